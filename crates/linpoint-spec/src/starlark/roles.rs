//! What a specification file says about well-known objects: its kind, and the roles of its operations.

use linpoint::spec::{Kind, Need, Role};

use crate::data::Data;

/// The kinds that a file can name, with their meaning.
const KINDS: &str = "\"queue\", \"stack\", \"bag\", \"deque\", \"max-priority-queue\", \"min-priority-queue\", \
                     (\"register\", initial value), (\"counter\", initial count) or None";

/// The roles that a file can name.
const ROLES: &str = "(\"adds\", value), (\"removes\", value), (\"peeks\", value), \"removes-some\", \"empty\", (\"reads\", value), \
                     (\"writes\", value), (\"replaces\", old, new), (\"differs\", value), (\"counts\", by, seen) or \"opaque\"";

/// The name at the start and what follows it: `"queue"` or `("register", 0)`.
fn name_and_rest(data: &Data) -> Option<(&str, &[Data])> {
    match data {
        Data::Text(name) => Some((name, &[])),
        Data::Tuple(items) | Data::List(items) => match &**items {
            [Data::Text(name), rest @ ..] => Some((name, rest)),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn kind(data: &Data) -> Result<Option<Kind>, String> {
    let kind = match (data, name_and_rest(data)) {
        (Data::None, _) => return Ok(None),
        (_, Some(("queue", []))) => Kind::Queue,
        (_, Some(("stack", []))) => Kind::Stack,
        (_, Some(("bag", []))) => Kind::Bag,
        (_, Some(("deque", []))) => Kind::Deque,
        (_, Some(("max-priority-queue", []))) => Kind::MaxPriorityQueue,
        (_, Some(("min-priority-queue", []))) => Kind::MinPriorityQueue,
        (_, Some(("register", [initial]))) => Kind::Slot(initial.to_value()),
        (_, Some(("counter", [Data::Int(initial)]))) => Kind::Counter(*initial),
        _ => return Err(format!("kind is {data}; it must be {KINDS}")),
    };
    Ok(Some(kind))
}

pub(super) fn role(data: &Data) -> Result<Role, String> {
    Ok(match name_and_rest(data) {
        Some(("opaque", [])) => Role::Opaque,
        // The result of a call that is pending is the empty tuple, which the file calls `unknown`.
        Some(("reads" | "peeks", [Data::Tuple(unknown)])) if unknown.is_empty() => Role::Opaque,
        Some(("removes", [Data::Tuple(unknown)])) if unknown.is_empty() => Role::RemovesSome,
        Some(("adds", [value])) => Role::Adds(value.to_value()),
        Some(("removes", [value])) => Role::Removes(value.to_value()),
        Some(("removes-some", [])) => Role::RemovesSome,
        Some(("peeks", [value])) => Role::Peeks(value.to_value()),
        Some(("empty", [])) => Role::Empty,
        Some(("reads", [value])) => Role::reads(value.to_value()),
        Some(("writes", [value])) => Role::writes(value.to_value()),
        Some(("replaces", [old, new])) => Role::replaces(old.to_value(), new.to_value()),
        Some(("differs", [value])) => Role::Slot {
            needs: Need::IsNot(value.to_value()),
            leaves: None,
        },
        Some(("counts", [Data::Int(by), Data::None])) => Role::Counts {
            by: *by,
            seen: None,
        },
        Some(("counts", [Data::Int(by), Data::Int(seen)])) => Role::Counts {
            by: *by,
            seen: Some(*seen),
        },
        _ => return Err(format!("{data}; it must be {ROLES}")),
    })
}
