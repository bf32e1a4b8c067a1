//! Turns panics of the Parquet decoder into errors: it panics on some damaged files.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::error::Error;

thread_local! {
    /// Whether this thread is decoding. The panic hook is silent then, since [`caught`] reports the panic as an error.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `decode`; an error if it panics. Such a panic prints nothing.
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
