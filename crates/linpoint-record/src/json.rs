//! Values as JSON, without a library.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::io::Write;

/// A value that can be recorded: an argument, a result, an object, the name of a process.
///
/// ```
/// use linpoint_record::Json;
///
/// assert_eq!((1, "a\n", [Some(true), None]).to_json(), r#"[1,"a\n",[true,null]]"#);
/// ```
pub trait Json {
    /// Appends the value as JSON, on one line.
    fn write_json(&self, out: &mut Vec<u8>);

    /// The value as JSON.
    fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// A value that is JSON already, on one line, which is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawJson<T>(pub T);

impl<T: AsRef<str>> Json for RawJson<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_ref().as_bytes());
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write_json(&self, out: &mut Vec<u8>) {
        (**self).write_json(out);
    }
}

/// Nothing.
impl Json for () {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }
}

impl Json for bool {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Json for $integer {
            fn write_json(&self, out: &mut Vec<u8>) {
                // Writing into a vector never fails.
                let _ = write!(out, "{self}");
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// What is no number or not finite is text, since JSON has no form for it.
impl Json for f64 {
    fn write_json(&self, out: &mut Vec<u8>) {
        let _ = match self.is_finite() {
            true => write!(out, "{self:?}"),
            false => write!(out, "\"{self}\""),
        };
    }
}

impl Json for str {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        for &byte in self.as_bytes() {
            match byte {
                b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
                b'\n' => out.extend_from_slice(b"\\n"),
                0..0x20 => _ = write!(out, "\\u{byte:04x}"),
                _ => out.push(byte),
            }
        }
        out.push(b'"');
    }
}

impl Json for String {
    fn write_json(&self, out: &mut Vec<u8>) {
        self.as_str().write_json(out);
    }
}

/// `None` is nothing.
impl<T: Json> Json for Option<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write_json(out),
            None => ().write_json(out),
        }
    }
}

/// Writes the items between brackets, with commas.
fn write_items<T>(
    items: impl IntoIterator<Item = T>,
    brackets: [u8; 2],
    out: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>),
) {
    out.push(brackets[0]);
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(brackets[1]);
}

impl<T: Json> Json for [T] {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_items(self, *b"[]", out, T::write_json);
    }
}

impl<T: Json, const N: usize> Json for [T; N] {
    fn write_json(&self, out: &mut Vec<u8>) {
        self.as_slice().write_json(out);
    }
}

impl<T: Json> Json for Vec<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        self.as_slice().write_json(out);
    }
}

impl<T: Json> Json for BTreeSet<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_items(self, *b"[]", out, T::write_json);
    }
}

fn write_pair<K: AsRef<str>, V: Json>((key, value): (K, &V), out: &mut Vec<u8>) {
    key.as_ref().write_json(out);
    out.push(b':');
    value.write_json(out);
}

impl<K: AsRef<str>, V: Json> Json for BTreeMap<K, V> {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_items(self, *b"{}", out, write_pair);
    }
}

impl<K: AsRef<str>, V: Json, S: BuildHasher> Json for HashMap<K, V, S> {
    fn write_json(&self, out: &mut Vec<u8>) {
        write_items(self, *b"{}", out, write_pair);
    }
}

macro_rules! tuples {
    ($(($first:ident $($name:ident)*))*) => {$(
        /// A list.
        impl<$first: Json, $($name: Json),*> Json for ($first, $($name,)*) {
            fn write_json(&self, out: &mut Vec<u8>) {
                #[allow(non_snake_case, reason = "values have the names of their types")]
                let ($first, $($name,)*) = self;
                out.push(b'[');
                $first.write_json(out);
                $(
                    out.push(b',');
                    $name.write_json(out);
                )*
                out.push(b']');
            }
        }
    )*};
}

tuples! { (A) (A B) (A B C) (A B C D) }
