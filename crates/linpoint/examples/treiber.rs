//! Verifies an algorithm that is not built in: Treiber's stack, right and with a famous mistake.
//!
//! Nodes are taken from a pool and given back, as a C program without garbage collection would do. If the top of the stack is
//! compared by its address only, a pop can be fooled by a node that was popped and pushed again meanwhile (the ABA problem);
//! with a counter beside the address it cannot.
//!
//! ```console
//! $ cargo run --release -p linpoint --example treiber
//! ```

use linpoint::engine::Budget;
use linpoint::explore::{
    Algorithm, Bits, Bounds, Client, Explored, Interface, Outcome, Reductions, Step, refine,
};
use linpoint::{Outcomes, Spec};

const PROCESSES: usize = 2;
const NODES: usize = 2;
/// No node.
const NULL: u8 = NODES as u8;

/// The algorithm; `counted` puts a counter beside the address of the top.
#[derive(Debug)]
struct Treiber {
    counted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Op {
    Push(u8),
    Pop,
}

/// What a push answers: whether there was a free node. What a pop answers: the value, if there was one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ret {
    Pushed(bool),
    Popped(Option<u8>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shared {
    top: u8,
    count: u8,
    next: [u8; NODES],
    value: [u8; NODES],
    /// The free nodes, the one that is longest free first, then nulls.
    free: [u8; NODES],
}

linpoint::places! { enum At { Idle, Take, ReadTop, Link, Push, ReadFirst, ReadNext, Pop, ReadValue, GiveBack } }

#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Local {
    at: At,
    node: u8,
    top: u8,
    count: u8,
    next: u8,
    value: u8,
}

impl Treiber {
    /// Compares the top with what was read, and swaps it if it is the same.
    fn swap(&self, shared: &mut Shared, my: &Local, new: u8) -> bool {
        let same = shared.top == my.top && (!self.counted || shared.count == my.count);
        if same {
            shared.top = new;
            shared.count += u8::from(self.counted);
        }
        same
    }
}

impl Interface for Treiber {
    type Op = Op;
    type Ret = Ret;

    fn processes(&self) -> usize {
        PROCESSES
    }
}

impl Algorithm for Treiber {
    type Shared = Shared;
    type Local = Local;

    fn shared(&self) -> Shared {
        Shared {
            top: NULL,
            count: 0,
            next: [NULL; NODES],
            value: [0; NODES],
            free: [0, 1],
        }
    }

    fn call(&self, _: usize, op: &Op, my: &mut Local) {
        match op {
            Op::Push(value) => (my.at, my.value) = (At::Take, *value),
            Op::Pop => my.at = At::ReadFirst,
        }
    }

    fn step(&self, _: usize, shared: &mut Shared, my: &mut Local) -> Step<Ret> {
        let answer = match my.at {
            At::Idle => unreachable!("no operation is open"),
            // push(value)
            At::Take => match shared.free[0] {
                NULL => Ret::Pushed(false),
                node => {
                    shared.free.rotate_left(1);
                    shared.free[NODES - 1] = NULL;
                    shared.value[usize::from(node)] = my.value;
                    (my.at, my.node) = (At::ReadTop, node);
                    return Step::Go;
                }
            },
            At::ReadTop => {
                (my.at, my.top, my.count) = (At::Link, shared.top, shared.count);
                return Step::Go;
            }
            At::Link => {
                shared.next[usize::from(my.node)] = my.top;
                my.at = At::Push;
                return Step::Go;
            }
            At::Push => {
                if !self.swap(shared, my, my.node) {
                    my.at = At::ReadTop;
                    return Step::Go;
                }
                Ret::Pushed(true)
            }
            // pop()
            At::ReadFirst => {
                (my.at, my.top, my.count) = (At::ReadNext, shared.top, shared.count);
                if my.top != NULL {
                    return Step::Go;
                }
                Ret::Popped(None)
            }
            At::ReadNext => {
                (my.at, my.next) = (At::Pop, shared.next[usize::from(my.top)]);
                return Step::Go;
            }
            At::Pop => {
                let swapped = self.swap(shared, my, my.next);
                my.at = if swapped {
                    At::ReadValue
                } else {
                    At::ReadFirst
                };
                return Step::Go;
            }
            At::ReadValue => {
                (my.at, my.value) = (At::GiveBack, shared.value[usize::from(my.top)]);
                return Step::Go;
            }
            At::GiveBack => {
                if let Some(end) = shared.free.iter_mut().find(|node| **node == NULL) {
                    *end = my.top;
                }
                Ret::Popped(Some(my.value))
            }
        };
        *my = Local::default();
        Step::Return(answer)
    }

    fn next(&self, _: usize, my: &Local) -> String {
        match my.at {
            At::Idle => String::new(),
            At::Take => "take a free node".into(),
            At::ReadTop | At::ReadFirst => "read top".into(),
            At::Link => format!("next of node {} := {}", my.node, my.top),
            At::Push => format!("compare and swap top: {} to {}", my.top, my.node),
            At::ReadNext => format!("read next of node {}", my.top),
            At::Pop => format!("compare and swap top: {} to {}", my.top, my.next),
            At::ReadValue => format!("read value of node {}", my.top),
            At::GiveBack => format!("give back node {}", my.top),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        format!(
            "top={} next={:?} value={:?}",
            shared.top, shared.next, shared.value
        )
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        bits.int(&mut shared.top, 2);
        bits.int(&mut shared.count, 5);
        for node in 0..NODES {
            bits.int(&mut shared.next[node], 2);
            bits.int(&mut shared.value[node], 2);
            bits.int(&mut shared.free[node], 2);
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        bits.place(&mut my.at);
        for node in [&mut my.node, &mut my.top, &mut my.next, &mut my.value] {
            bits.int(node, 2);
        }
        bits.int(&mut my.count, 5);
    }
}

/// A stack of bounded size as it should be. A push may be refused for want of a node at any time: nodes that are being
/// popped are not free yet.
struct Stack;

impl Spec for Stack {
    type Op = Op;
    type Ret = Ret;
    type State = Vec<u8>;

    fn init(&self) -> Vec<u8> {
        Vec::new()
    }

    fn apply(&self, stack: &Vec<u8>, op: &Op) -> Outcomes<Ret, Vec<u8>> {
        let mut next = stack.clone();
        match op {
            Op::Push(value) => {
                next.push(*value);
                let pushed = (Ret::Pushed(true), next);
                Outcomes::Many(vec![pushed, (Ret::Pushed(false), stack.clone())])
            }
            Op::Pop => {
                let top = next.pop();
                Outcomes::One(Ret::Popped(top), next)
            }
        }
    }
}

/// Each process pushes values of its own, and pops.
struct Clients;

impl Client<Op> for Clients {
    fn offers(&self, p: usize, memory: u8) -> Vec<(Op, u8)> {
        vec![(Op::Push(p as u8 + 1), memory), (Op::Pop, memory)]
    }
}

fn main() -> Result<(), linpoint::Error> {
    let bounds = Bounds {
        ops_per_process: Some(4),
        ..Bounds::default()
    };
    for counted in [true, false] {
        let explored = Explored::default();
        let outcome = refine(
            &Treiber { counted },
            &Clients,
            &Stack,
            &bounds,
            Reductions::ALL,
            &Budget::default(),
            &explored,
        )?;
        let states = explored.states.into_inner();
        match (counted, outcome) {
            (true, Outcome::Verified) => {
                println!("with a counter: linearizable in all {states} states");
            }
            (false, Outcome::Bug(execution)) => {
                println!("without: {}\n", execution.reason);
                for row in &execution.rows {
                    let call = row.call.as_ref().map(|op| format!("{op:?}: "));
                    let ret = row.ret.as_ref().map(|ret| format!(" returns {ret:?}"));
                    println!(
                        "  process {}  {}{}{}   [{}]",
                        row.process,
                        call.unwrap_or_default(),
                        row.steps.join("; "),
                        ret.unwrap_or_default(),
                        row.registers
                    );
                }
            }
            (_, other) => panic!("unexpected: {other:?}"),
        }
    }
    Ok(())
}
