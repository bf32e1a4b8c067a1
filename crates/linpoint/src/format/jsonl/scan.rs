//! The fast path for lines: flat objects of scalars without escapes, which is what recorders write a million times.
//!
//! It accepts a subset of JSON. On any other line it returns `None`, and the parser reads the line and words the error.
//! On the subset it agrees with the parser, which a property test checks.

/// Hands the keys and the texts of the values of a flat object to `each`. `None` if the object is not that simple, or if
/// `each` gives up.
pub(super) fn flat_object<'a>(
    text: &'a str,
    mut each: impl FnMut(&'a str, &'a str) -> Option<()>,
) -> Option<()> {
    let bytes = text.as_bytes();
    let mut at = after_blanks(bytes, after(bytes, after_blanks(bytes, 0), b'{')?);
    loop {
        let key_end = string_end(bytes, at)?;
        let key = text.get(at + 1..key_end - 1)?;
        at = after_blanks(bytes, after(bytes, after_blanks(bytes, key_end), b':')?);
        let value_end = scalar_end(bytes, at)?;
        each(key, text.get(at..value_end)?)?;
        at = after_blanks(bytes, value_end);
        match bytes.get(at)? {
            b',' => at = after_blanks(bytes, at + 1),
            b'}' => break,
            _ => return None,
        }
    }
    (after_blanks(bytes, at + 1) == bytes.len()).then_some(())
}

fn after_blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
        at += 1;
    }
    at
}

fn after(bytes: &[u8], at: usize, expected: u8) -> Option<usize> {
    (*bytes.get(at)? == expected).then_some(at + 1)
}

/// The end of a string without escapes.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = after(bytes, start, b'"')?;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' | 0..0x20 => return None,
            _ => at += 1,
        }
    }
}

fn scalar_end(bytes: &[u8], start: usize) -> Option<usize> {
    let word = |word: &[u8]| {
        bytes[start..]
            .starts_with(word)
            .then_some(start + word.len())
    };
    match *bytes.get(start)? {
        b'"' => string_end(bytes, start),
        b'n' => word(b"null"),
        b't' => word(b"true"),
        b'f' => word(b"false"),
        b'-' => integer_end(bytes, start + 1),
        _ => integer_end(bytes, start),
    }
}

/// The end of the digits of an integer; what follows them shows whether it is one.
fn integer_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let leading_zero = digits > 1 && bytes[start] == b'0';
    (digits > 0 && !leading_zero).then_some(start + digits)
}
