//! Whether a file looks at the process that makes a call. If not, equal calls of different processes are one question.

/// Whether `step` may depend on the process. False only if the name of that parameter stands nowhere else in the text.
pub(super) fn is_used(text: &str) -> bool {
    // Another mention of `step` may be another definition.
    let Some((_, rest)) = text.split_once("def step(") else {
        return true;
    };
    if words(text).filter(|word| *word == "step").count() != 1 {
        return true;
    }
    let (params, _) = rest.split_once(')').unwrap_or((rest, ""));
    let Some(process) = params.split(',').nth(1).map(str::trim) else {
        return true;
    };
    let is_name = words(process).eq([process]);
    !is_name || words(text).filter(|word| *word == process).count() != 1
}

/// The names and keywords of a text, also those in comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::is_used;

    #[test]
    fn a_process_that_is_not_named_is_not_used() {
        assert!(!is_used(
            "def step(state, process, method, arg):\n    return (None, state)\n"
        ));
        assert!(!is_used(
            "def step(state, _, method, arg):\n    return (None, state)\n"
        ));
        assert!(!is_used(
            "def step(state,\n    process,\n    method, arg):\n    return (None, processes)\n"
        ));
    }

    #[test]
    fn doubt_is_use() {
        for text in [
            "def step(state, process, method, arg):\n    return (process, state)\n",
            "def step(state, process, method, arg):\n    x = \"\"\"\nend\n\"\"\"\n    return (process, state)\n",
            "def step(state, process, method, arg):\n    return (f\"{process}\", state)\n",
            "def step(*args):\n    return (args[1], args[0])\n",
            "def step(state, *rest):\n    return (rest[0], state)\n",
            "def step(state, process = 1, method = 2, arg = 3):\n    return (process, state)\n",
            "def other(state, who, method, arg):\n    return (who, state)\nstep = other\n",
            "def step(state, process, method, arg):\n    return 1\ndef other(s, p, m, a):\n    return (p, s)\nstep = other\n",
            "step = lambda state, process, method, arg: (process, state)\n",
        ] {
            assert!(is_used(text), "{text}");
        }
    }
}
