//! Keys of `jepsen.independent`: every value is a pair of a key and a value, and each key is an object of its own.

use std::collections::HashMap;

use super::jepsen::{Entry, EventType, JepsenEvent};
use crate::spec::value_is_result;
use crate::value::Value;

/// The key and the value of a tuple of `jepsen.independent`, which prints as a pair, as a tagged pair, or as a record with
/// `:key` and `:value`.
fn pair(recorded: &Value) -> Option<(&Value, &Value)> {
    if let Some([key, value]) = recorded.as_list() {
        return Some((key, value));
    }
    recorded.as_map().filter(|map| map.len() == 2)?;
    Some((recorded.get("key")?, recorded.get("value")?))
}

/// Takes the key out of the value of an event. A completion may have lost it: it belongs to the key of its invocation.
pub(super) fn split(event: JepsenEvent) -> Result<JepsenEvent, String> {
    match pair(&event.value) {
        Some((key, value)) => Ok(JepsenEvent {
            object: key.clone(),
            value: value.clone(),
            ..event
        }),
        None if event.kind == EventType::Invoke => Err(format!(
            "with independent keys every value is a [key value] pair, but this is {}",
            event.value
        )),
        None => Ok(event),
    }
}

/// Whether the values can only be pairs of a key and a value.
///
/// A pair alone says nothing: it may be the argument of a compare-and-set, or what a register holds. But an operation that
/// only reads, such as `read` or `dequeue`, has no argument, so that `[key nil]` at its invocation is a key and the place of
/// the result. So the values are pairs with a key if every invocation has a pair, some operation that only reads is invoked
/// with nil in the second place, all that only read are, and no completion changes the key.
pub(super) fn are_independent(entries: &[(u64, Entry)]) -> bool {
    let mut reads = 0;
    let mut open: HashMap<&Value, &Value> = HashMap::new();
    let events = entries.iter().filter_map(|(_, entry)| match entry {
        Entry::Client(event) => Some(event),
        Entry::Other { .. } => None,
    });
    for event in events {
        let is_read = value_is_result(&event.function);
        match (event.kind, pair(&event.value)) {
            (EventType::Invoke, Some((key, value))) => {
                if is_read && !value.is_nil() {
                    return false;
                }
                reads += usize::from(is_read);
                open.insert(&event.process, key);
            }
            (EventType::Invoke, None) => return false,
            (EventType::Ok, Some((key, _))) if open.get(&event.process) != Some(&key) => {
                return false;
            }
            (EventType::Ok, None) if is_read => return false,
            _ => {}
        }
    }
    reads > 0
}

#[cfg(test)]
mod tests {
    use crate::format::{Note, ReadOptions, parse};

    /// Whether the values of these events are detected to be pairs with a key; each is `process type function value`.
    fn is_detected(events: &[&str]) -> bool {
        let event = |event: &&str| {
            let words: Vec<&str> = event.splitn(4, ' ').collect();
            let [process, kind, function, value] = words[..] else {
                panic!("{event} is no event");
            };
            format!("{{:process {process}, :type :{kind}, :f :{function}, :value {value}}}\n")
        };
        let text: String = events.iter().map(event).collect();
        let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0);
        recorded.unwrap().notes == [Note::IndependentKeys]
    }

    #[test]
    fn pairs_at_the_invocation_of_reads_are_keys() {
        assert!(is_detected(&["0 invoke read [3 nil]", "0 ok read [3 nil]"]));
        assert!(is_detected(&[
            "0 invoke cas [3 [1 2]]",
            "1 invoke read [3 nil]",
            "0 fail cas [3 [1 2]]",
            "1 ok read [3 7]",
            "1 invoke write [4 [1 2]]",
            "1 info write nil",
        ]));
        assert!(is_detected(&[
            "0 invoke read #jepsen.independent.Tuple{:key 1, :value nil}",
            "0 ok read #jepsen.independent.Tuple{:key 1, :value 2}",
        ]));
    }

    #[test]
    fn other_pairs_are_values() {
        let others: [&[&str]; 7] = [
            // The arguments of compare-and-set.
            &["0 invoke cas [1 2]", "0 ok cas [1 2]"],
            &["0 invoke cas [1 2]", "1 invoke read nil", "1 ok read 2"],
            // Registers that hold pairs, even with nil in them.
            &[
                "0 invoke write [1 nil]",
                "1 invoke read nil",
                "1 ok read [1 nil]",
            ],
            // The result on the invocation.
            &["0 invoke read [1 2]", "0 ok read [1 2]"],
            &["0 invoke read [1 nil]", "0 ok read [2 5]"],
            // Transactions of two operations.
            &[
                "0 invoke txn [[:r 1 nil] [:r 2 nil]]",
                "0 ok txn [[:r 1 3] [:r 2 4]]",
            ],
            &["0 invoke write [1 2]", "0 ok write [1 2]"],
        ];
        for events in others {
            assert!(!is_detected(events), "{events:?}");
        }
    }
}
