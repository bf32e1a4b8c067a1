//! A failing execution in one word, from which it can be run again.
//!
//! `lp1:0.1/2:A4BA2:5f1c09ae` is the matrix (the invocations of each thread by number), the schedule (A four times, B once, A
//! twice; `+1` is a choice that is not about threads) and a hash of what every step did. A program that has changed since is
//! noticed by the hash.

use std::fmt::Write as _;

use crate::matrix::thread_name;
use crate::runtime::execution::Choice;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) threads: Vec<Vec<usize>>,
    /// Nothing for a failure of the serial phase, which is found again by running it.
    pub(crate) schedule: Vec<Choice>,
    pub(crate) signature: u32,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let threads: Vec<String> = self
            .threads
            .iter()
            .map(|ops| {
                let ops: Vec<String> = ops.iter().map(usize::to_string).collect();
                ops.join(".")
            })
            .collect();
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
            "lp1:{}:{schedule}:{:08x}",
            threads.join("/"),
            self.signature
        )
    }
}

impl std::str::FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |what: &str| format!("\"{text}\" is not a replay token: {what}");
        let parts: Vec<&str> = text.trim().split(':').collect();
        let ["lp1", threads, schedule, signature] = parts[..] else {
            return Err(bad("expected lp1:matrix:schedule:hash"));
        };
        let threads = threads
            .split('/')
            .map(|ops| match ops {
                "" => Ok(Vec::new()),
                ops => ops
                    .split('.')
                    .map(|op| op.parse().map_err(|_| bad("an operation is not a number")))
                    .collect(),
            })
            .collect::<Result<_, _>>()?;
        Ok(Token {
            threads,
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
        let token = Token {
            threads: vec![vec![0, 12], vec![], vec![3]],
            schedule: vec![
                thread(0),
                thread(0),
                Choice::Pick(1),
                Choice::Pick(1),
                thread(2),
            ],
            signature: 0xBEEF,
        };
        assert_eq!(token.to_string(), "lp1:0.12//3:A2+1+1C:0000beef");
        assert_eq!(token.to_string().parse(), Ok(token));
    }

    #[test]
    fn malformed_tokens_are_refused_with_a_reason() {
        for text in [
            "",
            "lp1",
            "lp1:x:A:0",
            "lp1:0:Z:0",
            "lp1:0:A:xyz",
            "lp1:0:é:0",
            "lp2:0:A:0",
        ] {
            let error = text.parse::<Token>().unwrap_err();
            assert!(error.contains("not a replay token"), "{error}");
        }
    }
}
