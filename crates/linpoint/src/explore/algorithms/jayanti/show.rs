//! Descriptions of steps and registers.

use super::{At, Jayanti, Local, Shared, X};

impl Jayanti {
    pub(super) fn show_step(&self, p: usize, my: &Local) -> String {
        let (entry, q) = (my.entry, my.q);
        match my.at {
            At::Idle => String::new(),
            At::Write => format!("A[{p}] := {}", u8::from(my.value)),
            At::LinkX | At::Look | At::LookB | At::LookA => "x := LL(X)".into(),
            At::LinkB => format!("LL(B{q}[{p}])"),
            At::Validate | At::ValidateSs => "VL(X)".into(),
            At::Forward => format!("SC(B{q}[{p}], {})", u8::from(my.value)),
            At::Empty => format!("B{p}[{entry}] := empty"),
            At::SetB => format!("SC(X, phase 2, B{p})"),
            At::Gather => format!("A{p}[{entry}] := A[{entry}]"),
            At::SetA => format!("SC(X, phase 3, A{p})"),
            At::TakeA => format!("V[{entry}] := A{}[{entry}]", my.x.proc_a),
            At::TakeB => format!("V[{entry}] := B{}[{entry}], if there", my.x.proc_b),
            At::LinkSs => "LL(SS)".into(),
            At::StoreSs if self.planted => format!("SS := {}", self.form.show(my.v)),
            At::StoreSs => format!("SC(SS, {})", self.form.show(my.v)),
            At::SetX => "SC(X, phase 1)".into(),
            At::Result => "read SS".into(),
        }
    }

    pub(super) fn show(&self, shared: &Shared) -> String {
        let X {
            phase,
            proc_a,
            proc_b,
            toggle,
        } = shared.x;
        let mut text = format!(
            "A={} X={}/A{proc_a}/B{proc_b}/{} SS={}/{}",
            self.form.show(shared.a),
            phase + 1,
            u8::from(toggle),
            self.form.show(shared.ss),
            u8::from(shared.ss_toggle),
        );
        for p in 0..self.form.processes {
            let kept = (0..self.form.processes).filter(|&k| self.form.keeps(k));
            let b: String = kept
                .map(
                    |k| match (shared.filled[p] >> k & 1, shared.row_b[p] >> k & 1) {
                        (0, _) => '-',
                        (_, 0) => '0',
                        _ => '1',
                    },
                )
                .collect();
            if shared.filled[p] != 0 {
                text += &format!(" B{p}={b}");
            }
        }
        text
    }
}
