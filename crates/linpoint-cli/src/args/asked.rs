//! What `--condition` names.

use linpoint::condition::Condition;
use linpoint::transaction::Level;

/// A condition, by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// A condition on single operations.
    Condition(Condition),
    /// An isolation level of transactions.
    Level(Level),
}

pub(super) fn parse_asked(name: &str) -> Result<Asked, String> {
    if let Some((_, level)) = Level::NAMES.iter().find(|(known, _)| *known == name) {
        return Ok(Asked::Level(*level));
    }
    let condition = name.parse().map(Asked::Condition);
    condition.map_err(|error: linpoint::Error| {
        let levels: Vec<&str> = Level::NAMES.iter().map(|(name, _)| *name).collect();
        format!("{error}; of transactions {}", levels.join(", "))
    })
}
