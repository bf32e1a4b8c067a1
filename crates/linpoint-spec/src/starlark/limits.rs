//! What the functions of a file may use.
//!
//! The language counts loops and calls, and looks at its memory once in a thousand of them. One expression can fill the memory
//! in between, so the memory is looked at before each statement too, and the two ways to make a large value in a short
//! expression, products and ranges, have limits of their own.

use std::collections::HashMap;
use std::sync::LazyLock;

use starlark::codemap::{FileSpan, FileSpanRef};
use starlark::environment::{Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::{BeforeStmtFunc, BeforeStmtFuncDyn, Evaluator};
use starlark::syntax::AstModule;
use starlark::syntax::ast::{AssignOp, AstStmt, Stmt};
use starlark::values::list::AllocList;
use starlark::values::tuple::AllocTuple;
use starlark::values::{Heap, UnpackValue, Value};
use starlark::{ErrorKind, starlark_module};

use crate::model::ModelError;

/// What calls of functions use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// Loops and calls.
    pub(super) ticks: u64,
    /// Bytes.
    pub(super) memory: usize,
}

impl Use {
    /// The most that one call of a function may use.
    pub(super) const MOST: Use = Use {
        ticks: 200_000,
        memory: 256 << 20,
    };

    /// What an evaluator has used since it was made.
    pub(super) fn of(evaluator: &Evaluator<'_, '_, '_>) -> Self {
        Use {
            ticks: evaluator.get_total_tick_count(),
            memory: evaluator.heap().peak_allocated_bytes(),
        }
    }

    /// Whether more is used, of one or the other.
    pub(super) fn is_over(self, limit: Use) -> bool {
        self.ticks > limit.ticks || self.memory > limit.memory
    }
}

/// The deepest recursion.
const DEEPEST_CALLS: usize = 200;

/// The most items of a product such as `[0] * n`, and the most numbers of a range.
const MOST_ITEMS: i64 = 1_000_000;

/// The function that stands in for the operator `*`.
const PRODUCT: &str = "_product";

/// What `blocked` is: a text that no file has. An empty list would be taken for it where a file returns a state without an answer.
pub(super) const BLOCKED: &str = "\0blocked";

/// The functions and constants that every file sees.
pub(super) fn globals() -> &'static Globals {
    static GLOBALS: LazyLock<Globals> = LazyLock::new(|| {
        let extensions = [
            LibraryExtension::Filter,
            LibraryExtension::Map,
            LibraryExtension::Print,
        ];
        let mut globals = GlobalsBuilder::extended_by(&extensions).with(limited_functions);
        globals.set("blocked", BLOCKED);
        globals.set("unknown", AllocTuple::<[i32; 0]>([]));
        globals.build()
    });
    &GLOBALS
}

#[starlark_module]
fn limited_functions(globals: &mut GlobalsBuilder) {
    fn _product<'v>(
        #[starlark(require = pos)] left: Value<'v>,
        #[starlark(require = pos)] right: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let times = |times: Value<'v>, of: Value<'v>| {
            let times = i64::unpack_value(times).ok().flatten()?;
            let items = of.length().ok()?;
            Some(times.saturating_mul(items.into()))
        };
        let is_int = |value: Value<'v>| value.get_type() == "int";
        let is_large = |value| is_int(value) && !matches!(i64::unpack_value(value), Ok(Some(_)));
        if is_int(left) && is_int(right) && (is_large(left) || is_large(right)) {
            return Err(told(
                "a number of more than 64 bits cannot be multiplied".to_owned(),
            ));
        }
        match times(left, right).or_else(|| times(right, left)) {
            Some(items) if items > MOST_ITEMS => Err(told(format!(
                "a product has at most {MOST_ITEMS} items, and this one would have {items}"
            ))),
            _ => left.mul(right, heap),
        }
    }

    fn range<'v>(
        #[starlark(require = pos)] first: i64,
        #[starlark(require = pos)] end: Option<i64>,
        #[starlark(require = pos, default = 1)] step: i64,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        let (start, end) = end.map_or((0, first), |end| (first, end));
        let distance = match step {
            0 => return Err(told("the step of a range is not 0".to_owned())),
            1.. => i128::from(end) - i128::from(start),
            _ => i128::from(start) - i128::from(end),
        };
        let step_size = i128::from(step.unsigned_abs());
        let numbers = (distance.max(0) + step_size - 1) / step_size;
        match i64::try_from(numbers) {
            Ok(numbers @ 0..=MOST_ITEMS) => {
                let number = |i: i64| start + i * step;
                Ok(heap.alloc(AllocList((0..numbers).map(number))))
            }
            _ => Err(told(format!(
                "a range has at most {MOST_ITEMS} numbers, and this one would have {numbers}"
            ))),
        }
    }
}

fn told(reason: String) -> starlark::Error {
    starlark::Error::new_value(ModelError(reason))
}

/// Puts [`PRODUCT`] in the place of products. Returns the place of the first `*=`, which cannot be replaced.
pub(super) fn limit_products(ast: &mut AstModule) -> Option<FileSpan> {
    fn find<'a>(statement: &'a AstStmt, found: &mut Option<&'a AstStmt>) {
        if let Stmt::AssignModify(_, AssignOp::Multiply, _) = &statement.node {
            found.get_or_insert(statement);
        }
        statement.visit_stmt(|inner| find(inner, found));
    }
    let mut found = None;
    find(ast.statement(), &mut found);
    if let Some(span) = found.map(|statement| statement.span) {
        return Some(ast.file_span(span));
    }
    ast.replace_binary_operators(&HashMap::from([("*".to_owned(), PRODUCT.to_owned())]));
    None
}

fn too_much_memory() -> String {
    format!(
        "it uses more than {} megabytes of memory",
        Use::MOST.memory >> 20
    )
}

/// The reason of an error, in words for those who write specifications.
pub(super) fn reason(error: &starlark::Error) -> String {
    let text = error.without_diagnostic().to_string();
    match error.kind() {
        ErrorKind::Fail(_) => text.trim_start_matches("fail: ").to_owned(),
        ErrorKind::StackOverflow(_) => {
            format!("calls are nested more than {DEEPEST_CALLS} deep")
        }
        // The language has no kinds for these.
        _ if text.starts_with("Execution duration limit") => {
            format!(
                "it takes more than {} loops and calls: does it end?",
                Use::MOST.ticks
            )
        }
        _ if text.starts_with("Heap memory limit") => too_much_memory(),
        _ if text == "Immutable" => {
            "a constant of the file cannot be changed: all that changes is in the state".to_owned()
        }
        _ => text,
    }
}

/// Looks at the memory before each statement.
struct MemoryCheck;

impl<'e> BeforeStmtFuncDyn<'e> for MemoryCheck {
    fn call<'v>(
        &mut self,
        _: FileSpanRef<'_>,
        _: bool,
        evaluator: &mut Evaluator<'v, '_, 'e>,
    ) -> starlark::Result<()> {
        match evaluator.heap().peak_allocated_bytes() > Use::MOST.memory {
            true => Err(told(too_much_memory())),
            false => Ok(()),
        }
    }
}

/// An evaluator with all limits.
pub(super) fn limited<'v, 'a>(module: &'a Module<'v>) -> Result<Evaluator<'v, 'a, 'a>, ModelError> {
    let mut evaluator = Evaluator::new(module);
    let limits = evaluator
        .set_max_callstack_size(DEEPEST_CALLS)
        .and_then(|()| evaluator.set_max_tick_count(Use::MOST.ticks))
        .and_then(|()| evaluator.set_max_heap_size(Use::MOST.memory));
    limits.map_err(|error| ModelError(error.to_string()))?;
    evaluator.before_stmt_for_dap(BeforeStmtFunc::from_dyn(Box::new(MemoryCheck)));
    Ok(evaluator)
}
