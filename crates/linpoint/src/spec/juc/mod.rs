//! Ten collections of `java.util.concurrent`, as OpenJDK 17 answers them.
//!
//! Elements, keys and values are integers. A call's argument is the list of its arguments, each an integer, a list of
//! integers, a map of integers or a [`Function`]. A result is the text that Java prints: `null`, `true`, `3`, `[1, 0, 2]`, `{0=1}`, or the
//! class name of an exception that was thrown; `nil` is the return of a void method. Iterators and views are read to their
//! end within the call, and arrays, iterators and enumerations print without blanks: `[1,0,2]`.

mod argument;
mod collection;
mod elements;
mod function;
mod heap;
mod map;
mod methods;
mod navigable;
mod render;

pub use collection::{CollectionClass, CollectionOp, IfFull, IfNone, JavaCollection};
pub use elements::Elements;
pub use function::Function;
pub use map::{JavaMap, MapClass, MapOp, MapView};
pub(crate) use methods::{collection_methods, map_methods};
pub use navigable::{Bounds, Relation};
pub use render::{Direction, ResultForm, Separator};
