//! Whether a file looks at a parameter of a function. If not, calls that differ in it alone are one question.

use starlark::syntax::ast::{AstStmt, Stmt};

/// Whether a function may depend on its parameter at this place. False only if the name of the parameter stands nowhere else in
/// the definition of the function, which is the only one.
pub(super) fn is_used(text: &str, file: &AstStmt, function: &str, place: usize) -> bool {
    // Another mention of the function may be another definition.
    if words(text).filter(|word| *word == function).count() != 1 {
        return true;
    }
    let Some(definition) = definition(text, file, function) else {
        return true;
    };
    let Some((_, rest)) = definition.split_once('(') else {
        return true;
    };
    let (params, _) = rest.split_once(')').unwrap_or((rest, ""));
    let Some(param) = params.split(',').nth(place).map(str::trim) else {
        return true;
    };
    let is_name = words(param).eq([param]);
    !is_name || words(definition).filter(|word| *word == param).count() != 1
}

/// The text of the definition of a function.
fn definition<'t>(text: &'t str, file: &AstStmt, function: &str) -> Option<&'t str> {
    fn find<'a>(statement: &'a AstStmt, function: &str, found: &mut Option<&'a AstStmt>) {
        if let Stmt::Def(definition) = &statement.node
            && definition.name.ident == function
        {
            *found = Some(statement);
        }
        statement.visit_stmt(|inner| find(inner, function, found));
    }
    let mut found = None;
    find(file, function, &mut found);
    let span = found?.span;
    text.get(span.begin().get() as usize..span.end().get() as usize)
}

/// The names and keywords of a text, also those in comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use starlark::syntax::{AstModule, Dialect};

    fn is_used(text: &str, function: &str, place: usize) -> bool {
        let dialect = Dialect {
            enable_f_strings: true,
            ..Dialect::Standard
        };
        let file = AstModule::parse("file", text.to_owned(), &dialect).expect("it can be read");
        super::is_used(text, file.statement(), function, place)
    }

    fn uses_process(text: &str) -> bool {
        is_used(text, "step", 1)
    }

    #[test]
    fn other_functions_may_use_the_name() {
        let text = "def step(state, process, method, arg):\n    return (arg, state)\n\n\
                    def is_pure(method, arg, ret):\n    is_read = \"\"\"\nread\n\"\"\"\n    return (\nmethod\n == is_read)\n\n\
                    def describe(state):\n    return f\"{arg}\"\n";
        assert!(is_used(text, "step", 3));
        assert!(is_used(text, "is_pure", 0));
        assert!(!is_used(text, "is_pure", 1));
        assert!(!is_used(text, "is_pure", 2));
        let inner = "def is_pure(method, arg, ret):\n    def is_read():\n        return arg == method\n    return is_read()\n";
        assert!(is_used(inner, "is_pure", 0) && is_used(inner, "is_pure", 1));
        assert!(!is_used(inner, "is_pure", 2));
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
