//! Descriptions of steps and registers.

use super::{At, Local, Riany, Shared};

impl Riany {
    pub(super) fn show_step(&self, p: usize, my: &Local) -> String {
        let Local {
            turn, view, entry, ..
        } = my;
        match my.at {
            At::Idle => String::new(),
            At::ReadSeq => "s := curr_seq".into(),
            At::MoveLow => format!("memory[{p}].low := high"),
            At::SetHigh => format!("memory[{p}].high := ({}, {})", u8::from(my.value), my.s),
            At::CheckOwn => format!("read A[{p}]"),
            At::ReadTurn => "ix := curr_index".into(),
            At::Init => format!("init views[{}]", 2 * p + usize::from(!my.second_view)),
            At::Propose => format!("A[{p}] := {}", 2 * p + usize::from(my.second_view)),
            At::LinkTurn => "ix := LL(curr_index)".into(),
            At::ReadProposed => format!("hv := A[{turn}]"),
            At::Advance => "SC(curr_index, advance)".into(),
            At::ReadNext => format!("read A[{}]", (usize::from(*turn) + 1) % self.form.processes),
            At::SetTurn => "SC(curr_index, next)".into(),
            At::Version => format!("ver := views[{view}].version"),
            At::SameTurn | At::SameTurnAgain => "test curr_index".into(),
            At::LinkViewSeq => format!("LL(views[{view}].sequence)"),
            At::SameForSeq | At::SameForCurr | At::SameForReg | At::SameForCopy => {
                format!("test views[{view}].version")
            }
            At::SetViewSeq => format!("SC(views[{view}].sequence, curr_seq + 1)"),
            At::ReadViewSeq => format!("s := views[{view}].sequence"),
            At::LinkSeq => "LL(curr_seq)".into(),
            At::SetSeq => format!("SC(curr_seq, {})", my.s),
            At::High => format!("h := memory[{entry}].high"),
            At::Low => format!("l := memory[{entry}].low"),
            At::LinkReg => format!("LL(views[{view}].regs[{entry}])"),
            At::SetReg => format!("SC(views[{view}].regs[{entry}])"),
            At::LinkProposed => format!("LL(A[{turn}])"),
            At::Withdraw => format!("SC(A[{turn}], null)"),
            At::Copy => format!("result[{entry}] := views[{view}].regs[{entry}]"),
        }
    }

    pub(super) fn show(&self, shared: &Shared) -> String {
        let proposed: Vec<String> = (0..self.form.processes)
            .map(|k| match shared.proposed[k] {
                0 => "-".into(),
                which => (2 * k + usize::from(which) - 1).to_string(),
            })
            .collect();
        let mut text = format!(
            "high={} low={} seq={} index={}{} A={}",
            self.form.show(shared.high),
            self.form.show(shared.low),
            shared.seq,
            shared.turn,
            if shared.fills { "f" } else { "a" },
            proposed.join(","),
        );
        for view in (0..2 * self.form.processes).filter(|&view| shared.view_seq[view] != 0) {
            let regs = self.form.show(shared.regs[view]);
            text += &format!(" views[{view}]={}/{regs}", shared.view_seq[view]);
        }
        text
    }
}
