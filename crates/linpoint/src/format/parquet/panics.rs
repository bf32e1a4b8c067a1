//! The decoder panics on some damaged files: for us that is one more way to tell that a file is damaged.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::error::Error;

thread_local! {
    /// Whether this thread is decoding, so that a panic is nobody's concern but ours.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// What `decode` answers, or the error that the file is damaged if it panics, without a word on the standard error.
pub(super) fn caught<T>(decode: impl FnOnce() -> T) -> Result<T, Error> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !DECODING.get() {
                usual(info);
            }
        }));
    });
    DECODING.set(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    decoded.map_err(|_| Error::malformed("not readable as Parquet: it is damaged"))
}
