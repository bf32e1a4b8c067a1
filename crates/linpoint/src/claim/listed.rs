//! Lists of texts in sentences: states, and answers.

/// Some texts of a larger number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The first ones, in ascending order.
    pub shown: Vec<String>,
    /// How many there are.
    pub count: usize,
}

impl Listed {
    /// The least `most` of these texts, one of them replaced if all others begin with words that not all texts begin with.
    pub(crate) fn of(texts: impl IntoIterator<Item = String>, most: usize) -> Self {
        let mut shown: Vec<String> = texts.into_iter().collect();
        // Numbers of different lengths are in their order so.
        shown.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        shown.dedup();
        let count = shown.len();
        let hidden = shown.split_off(most.min(count));
        if let Some((first, others)) = shown.split_first_mut()
            && let Some(last) = others.last_mut()
            && let Some(odd) = hidden.iter().min_by_key(|text| common_words(first, text))
            && common_words(first, odd) < common_words(first, last)
        {
            last.clone_from(odd);
        }
        Listed { shown, count }
    }

    /// `a`, `a or b`, `a, b or c`, or `one of 7: a, b, c, …`. Words that all begin with stand once: `the queue held 1 or 2`.
    /// Of clauses that differ in more than a value, some of many are `the lock was in one of 7 states: it was free, …`. Texts with commas
    /// of their own are separated by semicolons.
    pub fn alternatives(&self) -> String {
        self.joined("")
    }

    /// The same for answers that an operation could have given instead of its own, of which some of many are
    /// `one of 7 others: a, b, c, …`.
    pub fn other_answers(&self) -> String {
        self.joined(" others")
    }

    /// `many` stands after the number, if there are more than are shown. Long texts are cut in the middle.
    fn joined(&self, many: &str) -> String {
        let shown = self.shown.iter().map(|text| shortened(text)).collect();
        let count = self.count;
        Listed { shown, count }.joined_whole(many)
    }

    fn joined_whole(&self, many: &str) -> String {
        let common = match self.shown.as_slice() {
            [] | [_] => 0,
            [first, rest @ ..] => rest
                .iter()
                .map(|text| common_words(first, text))
                .min()
                .unwrap_or(0),
        };
        // Of texts that go on with a list, as `x = 1, y = 2`, only what comes before it stands once.
        let common = match self.shown.iter().any(|text| has_comma(&text[common..])) {
            true => self
                .shown
                .first()
                .map_or(0, |text| after_verb(text).min(common)),
            false => common,
        };
        let ends: Vec<&str> = self.shown.iter().map(|text| &text[common..]).collect();
        let start = self.shown.first().map_or("", |text| &text[..common]);
        let comma = separator(&ends);
        match ends.as_slice() {
            [] => String::new(),
            _ if self.count > ends.len() => self.some_states(&ends).unwrap_or_else(|| {
                let (count, listed) = (self.count, ends.join(comma));
                format!("{start}one of {count}{many}: {listed}{comma}…")
            }),
            [only] => format!("{start}{only}"),
            [all @ .., last] => {
                let or = if comma == COMMA { " or " } else { "; or " };
                format!("{start}{}{or}{last}", all.join(comma))
            }
        }
    }

    /// Some clauses of many, where one of their `ends` is more than a value.
    fn some_states(&self, ends: &[&str]) -> Option<String> {
        if ends.iter().all(|end| word_starts(end).next().is_none()) {
            return None;
        }
        let verb = verb_start(self.shown.first()?)?;
        let object = &self.shown[0][..verb];
        let predicates = self.shown.iter().map(|text| text.strip_prefix(object));
        let predicates = predicates.collect::<Option<Vec<&str>>>()?;
        let is_plural =
            object == "the accounts " || predicates.iter().any(|end| end.starts_with("were "));
        let (were, they) = if is_plural {
            ("were", "they")
        } else {
            ("was", "it")
        };
        let comma = separator(&predicates);
        let (count, predicates) = (self.count, predicates.join(comma));
        Some(format!(
            "{object}{were} in one of {count} states: {they} {predicates}{comma}…"
        ))
    }
}

const COMMA: &str = ", ";

/// The most bytes of a text in a sentence, and how many of a longer one are kept at its beginning and at its end, at most.
const LONGEST: usize = 400;
const HEAD: usize = 200;
const TAIL: usize = 80;

/// `[1, 2, …, 9]` for a long list. It is cut where items end, or anywhere if it has none.
fn shortened(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at += 1;
        }
        at
    };
    let (head, tail) = (
        &text[..boundary(HEAD)],
        &text[boundary(text.len() - TAIL)..],
    );
    match (head.rfind(COMMA), tail.find(COMMA)) {
        (Some(end), Some(start)) => format!("{}, …{}", &head[..end], &tail[start..]),
        _ => format!("{head}…{tail}"),
    }
}

/// What stands between texts of a list.
fn separator(texts: &[&str]) -> &'static str {
    match texts.iter().any(|text| has_comma(text)) {
        true => "; ",
        false => COMMA,
    }
}

/// Whether a text has a comma outside of quotes and brackets.
fn has_comma(text: &str) -> bool {
    let (mut is_quoted, mut is_escaped, mut depth) = (false, false, 0_u32);
    text.bytes().any(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => depth = depth.saturating_sub(1),
            b',' => return depth == 0,
            _ => {}
        }
        false
    })
}

/// How many bytes of whole words two texts have in common at their beginnings, before any list. Quoted texts are not split.
fn common_words(a: &str, b: &str) -> usize {
    let pairs = a.bytes().zip(b.bytes());
    let same = pairs.take_while(|(a, b)| a == b).count();
    word_starts(a)
        .take_while(|&start| start <= same)
        .last()
        .unwrap_or(0)
}

/// Where the verb of a clause about a state begins.
fn verb_start(clause: &str) -> Option<usize> {
    const VERBS: [&str; 4] = ["was ", "were ", "held ", "had "];
    let is_verb = |start: &usize| VERBS.iter().any(|verb| clause[*start..].starts_with(verb));
    word_starts(clause).find(is_verb)
}

/// Where the words after the verb of a clause begin; 0 if it has none.
fn after_verb(clause: &str) -> usize {
    let verb = verb_start(clause).map(|verb| (verb, clause[verb..].find(' ')));
    verb.map_or(0, |(verb, space)| verb + space.map_or(0, |space| space + 1))
}

/// Where the words after the first one begin, outside of quoted texts and before any list or bracket.
fn word_starts(text: &str) -> impl Iterator<Item = usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let bytes = text.bytes().enumerate().map_while(move |(i, byte)| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'[' | b'{' | b'(' => return None,
            b' ' => return Some(Some(i + 1)),
            _ => {}
        }
        Some(None)
    });
    bytes.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_share_their_first_words() {
        let listed = |texts: &[&str]| Listed::of(texts.iter().map(|&text| text.to_owned()), 3);
        let queue = listed(&["the queue held [2]", "the queue held [1]"]);
        assert_eq!(queue.alternatives(), "the queue held [1] or [2]");
        assert_eq!(listed(&["5"]).alternatives(), "5");
        let many = listed(&["1", "2", "3", "4", "4"]);
        assert_eq!(many.alternatives(), "one of 4: 1, 2, 3, …");
        assert_eq!(many.other_answers(), "one of 4 others: 1, 2, 3, …");
        let lists = listed(&["held [1, 2, 3]", "held [1, 2, 4]"]);
        assert_eq!(lists.alternatives(), "held [1, 2, 3] or [1, 2, 4]");
        let long = listed(&["held [1, 2, …] (20 values)", "held [1, 2, …] (30 values)"]);
        let told = "held [1, 2, …] (20 values) or [1, 2, …] (30 values)";
        assert_eq!(long.alternatives(), told);
        let lock = listed(&["the lock was free", "the lock was held"]);
        assert_eq!(lock.alternatives(), "the lock was free or held");
        let tokens = [
            "held by owner 0 (last token: 2)",
            "held by owner 0 (last token: 3)",
        ];
        let told = "held by owner 0 (last token: 2) or (last token: 3)";
        assert_eq!(listed(&tokens).alternatives(), told);
        let quoted = listed(&["key \"x y\" held \"a b\"", "key \"x y\" held \"a c\""]);
        let told = "key \"x y\" held \"a b\" or \"a c\"";
        assert_eq!(quoted.alternatives(), told);
    }

    #[test]
    fn long_texts_are_cut_in_the_middle() {
        let list = |last: u32| {
            let items: Vec<String> = (0..last).map(|item| item.to_string()).collect();
            format!("[{}]", items.join(", "))
        };
        let listed = |texts: &[String]| Listed::of(texts.iter().cloned(), 3).other_answers();
        assert_eq!(listed(&[list(50)]), list(50));
        let cut = listed(&[list(5_000)]);
        assert!(cut.starts_with("[0, 1, 2, ") && cut.ends_with(", 4998, 4999]"));
        assert!(cut.contains(", …, 49") && cut.len() < LONGEST, "{cut}");
        let two = listed(&[list(5_000), list(6_000)]);
        assert!(
            two.ends_with(", 5998, 5999]") && two.len() < 2 * LONGEST,
            "{two}"
        );
        let umlauts = shortened(&"ü".repeat(500));
        assert!(
            umlauts.contains('…') && umlauts.len() < LONGEST,
            "{umlauts}"
        );
    }

    #[test]
    fn texts_with_commas_are_separated_by_semicolons() {
        let listed = |texts: &[&str]| Listed::of(texts.iter().map(|&text| text.to_owned()), 2);
        let two = listed(&["the state was x = 1, y = 2", "the state was x = 3, y = 4"]);
        let told = "the state was x = 1, y = 2; or x = 3, y = 4";
        assert_eq!(two.alternatives(), told);
        let three = listed(&["x = 1, y = 2", "x = 3, y = 4", "x = 5, y = 6"]);
        assert_eq!(
            three.alternatives(),
            "one of 3: x = 1, y = 2; x = 3, y = 4; …"
        );
        let inside = listed(&["{\"a, b\": 1, \"c\": 2}", "{\"a, b\": 1, \"c\": 3}"]);
        let told = "{\"a, b\": 1, \"c\": 2} or {\"a, b\": 1, \"c\": 3}";
        assert_eq!(inside.alternatives(), told);
        let last = listed(&[
            "the lock was free, and its last token was 7",
            "the lock was free, and its last token was 8",
        ]);
        let told = "the lock was free, and its last token was 7 or 8";
        assert_eq!(last.alternatives(), told);
        let one = listed(&["the lock was free, and its last token was 7"]);
        assert_eq!(
            one.alternatives(),
            "the lock was free, and its last token was 7"
        );
    }

    #[test]
    fn some_of_many_states_are_a_clause() {
        let listed = |texts: &[&str]| Listed::of(texts.iter().map(|&text| text.to_owned()), 2);
        let values = listed(&[
            "the queue held [1]",
            "the queue held [2]",
            "the queue held [3]",
        ]);
        let told = "the queue held one of 3: [1], [2], …";
        assert_eq!(values.alternatives(), told);
        let stack = listed(&[
            "the stack was empty",
            "the stack held [1]",
            "the stack held [2]",
        ]);
        let told = "the stack was in one of 3 states: it held [1], was empty, …";
        assert_eq!(stack.alternatives(), told);
        let lock = listed(&[
            "the lock was free",
            "the lock was held by 2 readers",
            "the lock was held by a writer",
        ]);
        let told = "the lock was in one of 3 states: it was free, was held by a writer, …";
        assert_eq!(lock.alternatives(), told);
        let logs = listed(&[
            "the logs were empty",
            "the logs held [1]",
            "the logs held [2]",
        ]);
        let told = "the logs were in one of 3 states: they held [1], were empty, …";
        assert_eq!(logs.alternatives(), told);
        let counter = listed(&[
            "the counter was at 1",
            "the counter was at 2",
            "the counter was at 3",
        ]);
        let told = "the counter was at one of 3: 1, 2, …";
        assert_eq!(counter.alternatives(), told);
    }
}
