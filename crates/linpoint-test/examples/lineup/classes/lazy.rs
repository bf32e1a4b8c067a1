//! Lazy initialization: a value that the first one who asks for it makes.

use linpoint_test::sync::OnceLock;
use linpoint_test::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use super::Seed;

/// The value is the number of the call that made it, so that a second one would show.
#[derive(Debug)]
pub struct Lazy {
    seed: Seed,
    made: AtomicU32,
    value: OnceLock<u32>,
    /// What the mutant has instead: a flag and a value.
    is_made: AtomicBool,
    plain: AtomicU32,
}

impl Lazy {
    pub fn new(seed: Seed) -> Self {
        Lazy {
            seed,
            made: AtomicU32::new(0),
            value: OnceLock::new(),
            is_made: AtomicBool::new(false),
            plain: AtomicU32::new(0),
        }
    }

    pub fn value(&self) -> u32 {
        if self.seed != Seed::Mutant {
            return *self.value.get_or_init(|| self.make());
        }
        // Two threads can both find that there is no value yet.
        if !self.is_made.load(SeqCst) {
            self.plain.store(self.make(), SeqCst);
            self.is_made.store(true, SeqCst);
        }
        self.plain.load(SeqCst)
    }

    pub fn text(&self) -> String {
        if self.is_value_created() {
            self.value().to_string()
        } else {
            "value is not created".to_owned()
        }
    }

    pub fn is_value_created(&self) -> bool {
        match self.seed {
            Seed::Mutant => self.is_made.load(SeqCst),
            _ => self.value.get().is_some(),
        }
    }

    fn make(&self) -> u32 {
        self.made.fetch_add(1, SeqCst) + 1
    }
}
