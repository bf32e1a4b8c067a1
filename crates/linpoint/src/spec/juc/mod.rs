//! Ten collections of `java.util.concurrent`, as OpenJDK 17 answers them.
//!
//! Elements, keys and values are integers, texts, `true` and `false`. A call's argument is the list of its arguments, each of which is one of
//! these, null, a list of them, a map of them or a [`Function`]. A map is an object, or the list of its pairs in the order in which Java
//! iterates over it. A result is the text that Java prints: `null`, `true`, `3`, `[1, 0, 2]`, `{0=1}`, or the class name of an exception
//! that was thrown; `nil` is the return of a void method. Iterators and views are read to their end within the call, and arrays,
//! iterators and enumerations print without blanks: `[1,0,2]`. In listings other than that of `toString`, strings may be quoted.

mod argument;
mod collection;
mod collection_spec;
mod element;
mod elements;
mod form;
mod function;
mod heap;
mod map;
mod map_spec;
mod methods;
mod navigable;
mod render;
#[cfg(test)]
mod tests;

pub use collection::{CollectionClass, CollectionOp, IfFull, IfNone, JavaCollection};
pub use element::Element;
pub use elements::Elements;
pub use form::HistoryForm;
pub use function::Function;
pub use map::{JavaMap, MapClass, MapOp, MapView};
pub(crate) use methods::{collection_methods, map_methods};
pub use navigable::{Bounds, Edge, Relation};
pub use render::{Direction, Separator};
