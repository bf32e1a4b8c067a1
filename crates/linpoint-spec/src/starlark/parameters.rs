//! Whether a file looks at a parameter of a function. If not, calls that differ in it alone are one question.

/// Whether a function may depend on its parameter at this place. False only if the name of the parameter stands nowhere else in
/// the text.
pub(super) fn is_used(text: &str, function: &str, place: usize) -> bool {
    // Another mention of the function may be another definition.
    let Some((_, rest)) = text.split_once(&format!("def {function}(")) else {
        return true;
    };
    if words(text).filter(|word| *word == function).count() != 1 {
        return true;
    }
    let (params, _) = rest.split_once(')').unwrap_or((rest, ""));
    let Some(param) = params.split(',').nth(place).map(str::trim) else {
        return true;
    };
    let is_name = words(param).eq([param]);
    !is_name || words(text).filter(|word| *word == param).count() != 1
}

/// The names and keywords of a text, also those in comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    fn uses_process(text: &str) -> bool {
        super::is_used(text, "step", 1)
    }

    #[test]
    fn a_process_that_is_not_named_is_not_used() {
        assert!(!uses_process(
            "def step(state, process, method, arg):\n    return (None, state)\n"
        ));
        assert!(!uses_process(
            "def step(state, _, method, arg):\n    return (None, state)\n"
        ));
        assert!(!uses_process(
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
            assert!(uses_process(text), "{text}");
        }
    }
}
