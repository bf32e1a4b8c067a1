//! Replay tokens: a failing execution in one word.
//!
//! `lp1:9b02:0.1/2:A4BA2:5f1c09ae` is a hash of the object (its type and its operations), the matrix (the invocations of each
//! thread by number; with a sequence before and after, `3;0.1/2;4`), the schedule (A four times, B once, A twice; `+1` is a choice
//! that is not about threads) and a hash of the accesses of all steps. The first hash identifies tokens of other tests, the
//! second one detects that the program has changed.

use std::fmt::Write as _;

use crate::matrix::Matrix;
use crate::runtime::execution::Choice;
use crate::runtime::thread_name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// See [`Object::identity`](crate::Object::identity).
    pub(crate) object: u16,
    pub(crate) matrix: Matrix,
    /// Empty for a failure of the serial phase, which is repeated by running that phase.
    pub(crate) schedule: Vec<Choice>,
    pub(crate) signature: u32,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |ops: &[usize]| {
            let ops: Vec<String> = ops.iter().map(usize::to_string).collect();
            ops.join(".")
        };
        let Matrix {
            init,
            threads,
            last,
        } = &self.matrix;
        let threads: Vec<String> = threads.iter().map(|ops| list(ops)).collect();
        let mut matrix = threads.join("/");
        if !(init.is_empty() && last.is_empty()) {
            matrix = format!("{};{matrix};{}", list(init), list(last));
        }
        let mut schedule = String::new();
        for run in self
            .schedule
            .chunk_by(|a, b| a == b && matches!(a, Choice::Thread(_)))
        {
            let _ = match run[0] {
                Choice::Thread(thread) => match run.len() {
                    1 => write!(schedule, "{}", thread_name(thread.into())),
                    length => write!(schedule, "{}{length}", thread_name(thread.into())),
                },
                Choice::Pick(pick) => write!(schedule, "+{pick}"),
            };
        }
        write!(
            f,
            "lp1:{:04x}:{matrix}:{schedule}:{:08x}",
            self.object, self.signature
        )
    }
}

impl std::str::FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |what: &str| format!("\"{text}\" is not a replay token: {what}");
        let parts: Vec<&str> = text.trim().split(':').collect();
        let ["lp1", object, matrix, schedule, signature] = parts[..] else {
            return Err(bad("expected lp1:object:matrix:schedule:hash"));
        };
        let list = |ops: &str| match ops {
            "" => Ok(Vec::new()),
            ops => ops
                .split('.')
                .map(|op| op.parse().map_err(|_| bad("an operation is not a number")))
                .collect(),
        };
        let (init, threads, last) = match matrix.split(';').collect::<Vec<_>>()[..] {
            [threads] => ("", threads, ""),
            [init, threads, last] => (init, threads, last),
            _ => return Err(bad("the matrix is malformed")),
        };
        Ok(Token {
            object: u16::from_str_radix(object, 16)
                .map_err(|_| bad("the hash of the object is not a number"))?,
            matrix: Matrix {
                init: list(init)?,
                threads: threads.split('/').map(list).collect::<Result<_, _>>()?,
                last: list(last)?,
            },
            schedule: parse_schedule(schedule).ok_or_else(|| bad("the schedule is malformed"))?,
            signature: u32::from_str_radix(signature, 16)
                .map_err(|_| bad("the hash is not a number"))?,
        })
    }
}

fn parse_schedule(text: &str) -> Option<Vec<Choice>> {
    let mut schedule = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let tail = &rest[first.len_utf8()..];
        let digits = tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (number, tail) = tail.split_at(digits);
        match first {
            '+' => schedule.push(Choice::Pick(number.parse().ok()?)),
            'A'..='H' => {
                let times = if number.is_empty() {
                    1
                } else {
                    number.parse().ok()?
                };
                let choice = Choice::Thread(first as u8 - b'A');
                schedule.resize(schedule.len() + usize::min(times, 1 << 20), choice);
            }
            _ => return None,
        }
        rest = tail;
    }
    Some(schedule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written() {
        let thread = Choice::Thread;
        let mut token = Token {
            object: 0x2A,
            matrix: Matrix {
                threads: vec![vec![0, 12], vec![], vec![3]],
                ..Matrix::default()
            },
            schedule: vec![
                thread(0),
                thread(0),
                Choice::Pick(1),
                Choice::Pick(1),
                thread(2),
            ],
            signature: 0xBEEF,
        };
        assert_eq!(token.to_string(), "lp1:002a:0.12//3:A2+1+1C:0000beef");
        assert_eq!(token.to_string().parse(), Ok(token.clone()));
        token.matrix.last = vec![7];
        assert_eq!(token.to_string(), "lp1:002a:;0.12//3;7:A2+1+1C:0000beef");
        assert_eq!(token.to_string().parse(), Ok(token));
    }

    #[test]
    fn malformed_tokens_are_refused_with_a_reason() {
        for text in [
            "",
            "lp1",
            "lp1:0:x:A:0",
            "lp1:0:0:Z:0",
            "lp1:0:0:A:xyz",
            "lp1:0:0:é:0",
            "lp2:0:0:A:0",
            "lp1:0:A:0",
            "lp1:0:0;1:A:0",
            "lp1:12345:0:A:0",
        ] {
            let error = text.parse::<Token>().unwrap_err();
            assert!(error.contains("not a replay token"), "{error}");
        }
    }
}
