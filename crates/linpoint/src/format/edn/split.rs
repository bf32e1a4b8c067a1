//! Finds the top-level forms of an EDN text, so that each can be parsed and dropped on its own.
//!
//! It reads only what determines the end of a form: brackets, strings, characters, comments, tags and discards. The parser
//! reads the rest.

use super::super::MAX_DEPTH;
use crate::error::Error;

/// A top-level form and the line on which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) struct Form<'a> {
    pub(in crate::format) line: u64,
    pub(in crate::format) text: &'a str,
}

/// The forms of a text, in their order. An error ends them.
#[derive(Debug)]
pub(in crate::format) struct Forms<'a> {
    text: &'a str,
    position: usize,
    /// How far lines were counted, and the line there.
    counted: (usize, u64),
    outer: Outer,
    failed: bool,
}

/// The bracket around all forms, which some writers put and others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outer {
    /// The first form decides.
    Undecided,
    None,
    Open(u8),
    Closed,
}

impl<'a> Forms<'a> {
    /// The forms of `text`, or, if it is one vector or list, the forms within.
    pub(in crate::format) fn unwrapped(text: &'a str) -> Self {
        Forms {
            text,
            position: 0,
            counted: (0, 1),
            outer: Outer::Undecided,
            failed: false,
        }
    }

    /// The forms of `text` as they are.
    pub(in crate::format) fn plain(text: &'a str) -> Self {
        Forms {
            outer: Outer::None,
            ..Forms::unwrapped(text)
        }
    }

    fn line_at(&mut self, position: usize) -> u64 {
        let between = &self.text.as_bytes()[self.counted.0..position];
        self.counted = (
            position,
            self.counted.1 + memchr::memchr_iter(b'\n', between).count() as u64,
        );
        self.counted.1
    }

    fn fail(
        &mut self,
        position: usize,
        reason: impl Into<String>,
    ) -> Option<Result<Form<'a>, Error>> {
        self.failed = true;
        Some(Err(Error::malformed(reason).at_line(self.line_at(position))))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_blanks_and_comments(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = self.peek() {
            match byte {
                b';' => {
                    let rest = &bytes[self.position..];
                    self.position += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => match blank_at(self.text, self.position) {
                    Some(length) => self.position += length,
                    None => return,
                },
            }
        }
    }
}

impl<'a> Iterator for Forms<'a> {
    type Item = Result<Form<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        // Each `#_` drops one of the following forms: two in a row drop two.
        let mut discards = 0;
        loop {
            if self.failed {
                return None;
            }
            self.skip_blanks_and_comments();
            let start = self.position;
            let Some(byte) = self.peek() else {
                return match self.outer {
                    Outer::Open(close) => {
                        self.fail(start, format!("the closing {:?} is missing", close as char))
                    }
                    _ if discards > 0 => self.fail(start, "nothing follows #_"),
                    _ => None,
                };
            };
            if self.outer == Outer::Undecided && discards == 0 && matches!(byte, b'[' | b'(') {
                self.outer = Outer::Open(if byte == b'[' { b']' } else { b')' });
                self.position += 1;
                continue;
            }
            if self.outer == Outer::Open(byte) && discards == 0 {
                self.outer = Outer::Closed;
                self.position += 1;
                continue;
            }
            if self.outer == Outer::Closed {
                return self.fail(start, "there is more after the closing bracket");
            }
            if self.text[start..].starts_with("#_") {
                self.position += 2;
                discards += 1;
                continue;
            }
            match form_end(self.text, start) {
                Ok(end) => self.position = end,
                Err((position, reason)) => return self.fail(position, reason),
            }
            if discards > 0 {
                discards -= 1;
                continue;
            }
            if self.outer == Outer::Undecided {
                self.outer = Outer::None;
            }
            return Some(Ok(Form {
                line: self.line_at(start),
                text: &self.text[start..self.position],
            }));
        }
    }
}

/// The length of the blank character at `position`, if there is one; commas are blanks.
fn blank_at(text: &str, position: usize) -> Option<usize> {
    let byte = text.as_bytes()[position];
    if byte.is_ascii() {
        return (byte == b',' || (byte as char).is_whitespace()).then_some(1);
    }
    let c = text[position..].chars().next()?;
    c.is_whitespace().then(|| c.len_utf8())
}

/// Where the form that begins at `start` ends, or where and why it does not.
fn form_end(text: &str, start: usize) -> Result<usize, (usize, String)> {
    let bytes = text.as_bytes();
    let mut position = start;
    let mut depth = 0;
    while let Some(&byte) = bytes.get(position) {
        let ends_value = match byte {
            b'"' => {
                position = string_end(bytes, position)
                    .ok_or_else(|| (position, "the string does not end".to_owned()))?;
                true
            }
            b'\\' => {
                // The character after the backslash may be a bracket or a quote.
                let escaped = text[position + 1..]
                    .chars()
                    .next()
                    .map_or(0, char::len_utf8);
                position = token_end(text, position + 1 + escaped);
                true
            }
            b';' => {
                let rest = &bytes[position..];
                position += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                false
            }
            b'[' | b'(' | b'{' => {
                position += 1;
                depth += 1;
                if depth > MAX_DEPTH {
                    let reason = format!("a form is nested more than {MAX_DEPTH} levels deep");
                    return Err((position, reason));
                }
                false
            }
            b']' | b')' | b'}' => {
                if depth == 0 {
                    return Err((position, format!("unexpected {:?}", byte as char)));
                }
                position += 1;
                depth -= 1;
                true
            }
            b'#' if bytes.get(position + 1) == Some(&b'{') => {
                position += 1;
                false
            }
            // A tag belongs to the value after it.
            b'#' => {
                position = token_end(text, position + 1);
                false
            }
            _ => match blank_at(text, position) {
                Some(length) => {
                    position += length;
                    false
                }
                None => {
                    position = token_end(text, position);
                    true
                }
            },
        };
        if ends_value && depth == 0 {
            return Ok(position);
        }
    }
    Err((start, "the form that begins here does not end".to_owned()))
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut position = start + 1;
    loop {
        let found = position + memchr::memchr2(b'"', b'\\', bytes.get(position..)?)?;
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        position = found + 2;
    }
}

fn token_end(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let is_boundary = |c: char| c.is_whitespace() || ",;\"()[]{}".contains(c);
    start + rest.find(is_boundary).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(u64, &str)> {
        Forms::unwrapped(text)
            .map(|form| form.unwrap())
            .map(|form| (form.line, form.text))
            .collect()
    }

    fn refusal(text: &str) -> String {
        let mut forms = Forms::unwrapped(text);
        let error = forms.find_map(Result::err).unwrap().to_string();
        assert!(forms.next().is_none());
        error
    }

    #[test]
    fn one_form_after_another() {
        assert_eq!(
            split(
                "{:a 1}\n ; {no}\n{:b \"}\\\"\"}, #_{:c 2} #_ #_ 1 2\n#jepsen.history.Op{:d \\}}\n#{1} x"
            ),
            [
                (1, "{:a 1}"),
                (3, "{:b \"}\\\"\"}"),
                (4, "#jepsen.history.Op{:d \\}}"),
                (5, "#{1}"),
                (5, "x"),
            ]
        );
    }

    #[test]
    fn one_outer_bracket_is_stripped() {
        for text in ["[{:a 1}\n[2]]", "({:a 1}\n[2]) ; end", "#_x [{:a 1}\n[2]]"] {
            assert_eq!(split(text), [(1, "{:a 1}"), (2, "[2]")]);
        }
        assert_eq!(Forms::plain("[1 2] 3").count(), 2);
        assert_eq!(split("[]"), []);
    }

    #[test]
    fn what_does_not_end_is_refused() {
        assert_eq!(
            refusal("{:a 1}\n{:b [1}"),
            "line 2: the form that begins here does not end"
        );
        assert_eq!(refusal("\n{:b \"}"), "line 2: the string does not end");
        assert_eq!(refusal("[1 2\n"), "line 2: the closing ']' is missing");
        assert_eq!(
            refusal("[1] 2"),
            "line 1: there is more after the closing bracket"
        );
        assert_eq!(refusal("1 )"), "line 1: unexpected ')'");
        assert_eq!(refusal("1 #_"), "line 1: nothing follows #_");
        let deep = "[".repeat(200_000);
        assert_eq!(
            refusal(&deep),
            "line 1: a form is nested more than 128 levels deep"
        );
    }
}
