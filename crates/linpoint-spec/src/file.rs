//! Reading specification files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use linpoint::Error;
use linpoint::spec::Params;

use crate::asked::Asked;

/// The longest file, in bytes. A longer one is no specification.
const LONGEST: u64 = 1 << 16;

/// The stack on which a file is read, in bytes: more than enough for the deepest expression on the longest line.
#[cfg(feature = "starlark")]
const STACK: usize = 256 << 20;

/// The specification in a file, with these parameters.
pub fn read(path: &Path, params: &Params) -> Result<Asked, Error> {
    parse(&path.display().to_string(), &read_text(path)?, params)
}

/// The text of a specification file, for [`parse`].
pub fn read_text(path: &Path) -> Result<String, Error> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| Error::unreadable(error.to_string()).in_file(&name);
    let file = File::open(path).map_err(unreadable)?;
    let mut text = Vec::new();
    file.take(LONGEST + 1)
        .read_to_end(&mut text)
        .map_err(unreadable)?;
    if text.len() as u64 > LONGEST {
        let reason = format!("a specification has at most {LONGEST} bytes");
        return Err(Error::specification(reason).in_file(&name));
    }
    String::from_utf8(text).map_err(|_| Error::specification("not UTF-8").in_file(&name))
}

/// The specification of this text, with these parameters. `name` is the name of its file, for messages.
#[cfg(feature = "starlark")]
pub fn parse(name: &str, text: &str, params: &Params) -> Result<Asked, Error> {
    let specification = |error: crate::model::ModelError| Error::specification(error.to_string());
    let model = on_large_stack(&|| crate::starlark::StarlarkModel::new(name, text, params));
    let model = model?.map_err(specification)?;
    if let Some(known) = model.parameters()
        && let Some(unknown) = params.keys().find(|name| !known.contains(name))
    {
        let known = match known.as_slice() {
            [] => "none".to_owned(),
            known => known.join(", "),
        };
        let reason = format!("{name} has no parameter {unknown:?}; it has {known}");
        return Err(Error::usage(reason));
    }
    Asked::new(model).map_err(specification)
}

/// The specification of this text, with these parameters. `name` is the name of its file, for messages.
#[cfg(not(feature = "starlark"))]
pub fn parse(_name: &str, _text: &str, _params: &Params) -> Result<Asked, Error> {
    Err(Error::usage(
        "this linpoint is built without specification files: build it with the feature `spec` \
         (cargo install --profile dist --features spec --path crates/linpoint-cli)",
    ))
}

/// What `read` returns, on a stack that deep expressions fit.
#[cfg(feature = "starlark")]
fn on_large_stack<T: Send>(read: &(impl Fn() -> T + Sync)) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let start = |stack| {
            let thread = std::thread::Builder::new().stack_size(stack);
            thread.spawn_scoped(scope, read)
        };
        // Where the address space is limited, there may be no room for a large one.
        let thread = start(STACK).or_else(|_| start(STACK / 64));
        let thread = thread.map_err(|error| {
            let reason = format!("no thread can be started to read the specification: {error}");
            Error::unreadable(reason)
        })?;
        thread
            .join()
            .map_err(|_| Error::bug("reading the specification panicked"))
    })
}
