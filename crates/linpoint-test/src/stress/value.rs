//! Conversion of Rust values to values of histories, and sources of arguments.

use std::fmt::Debug;
use std::ops::Range;

use linpoint::Value;

use super::Random;

/// A Rust value that can be an argument or a result in a recorded history.
///
/// `()` and `None` are nil and `Some(x)` is `x`, as in the [built-in types](linpoint::spec), where an empty container
/// returns nil. `Result` does not implement this trait: pass `result.is_ok()` or `result.ok()`, as the type expects.
pub trait ToValue {
    /// Returns the value that is recorded.
    fn to_value(&self) -> Value;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl ToValue for $integer {
            #[inline]
            fn to_value(&self) -> Value {
                i64::try_from(*self).map_or_else(|_| Value::number(self.to_string()), Value::Int)
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl ToValue for () {
    #[inline]
    fn to_value(&self) -> Value {
        Value::Nil
    }
}

impl ToValue for bool {
    #[inline]
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value {
        self.into()
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value {
        self.as_str().into()
    }
}

impl ToValue for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    #[inline]
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}

impl<T: ToValue> ToValue for Option<T> {
    #[inline]
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Nil, T::to_value)
    }
}

impl<T: ToValue> ToValue for [T] {
    fn to_value(&self) -> Value {
        Value::list(self.iter().map(T::to_value))
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }
}

impl<A: ToValue, B: ToValue> ToValue for (A, B) {
    fn to_value(&self) -> Value {
        Value::list([self.0.to_value(), self.1.to_value()])
    }
}

impl<A: ToValue, B: ToValue, C: ToValue> ToValue for (A, B, C) {
    fn to_value(&self) -> Value {
        Value::list([self.0.to_value(), self.1.to_value(), self.2.to_value()])
    }
}

/// A source of arguments: a list or a range, from which a random element is taken, or a function of the thread's
/// [`Random`], such as [`fresh`](super::fresh).
pub trait Arguments: Send + Sync + 'static {
    /// The type of an argument.
    type Item;

    /// Returns the next argument.
    fn next(&self, random: &mut Random) -> Self::Item;
}

impl<A, F: Fn(&mut Random) -> A + Send + Sync + 'static> Arguments for F {
    type Item = A;

    #[inline]
    fn next(&self, random: &mut Random) -> A {
        self(random)
    }
}

impl<A: Clone + Debug + Send + Sync + 'static, const N: usize> Arguments for [A; N] {
    type Item = A;

    fn next(&self, random: &mut Random) -> A {
        self[random.below(N as u64) as usize].clone()
    }
}

impl Arguments for Range<i64> {
    type Item = i64;

    fn next(&self, random: &mut Random) -> i64 {
        self.start + random.below((self.end - self.start).max(0) as u64) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_the_built_in_types_expect() {
        assert_eq!(().to_value(), Value::Nil);
        assert_eq!(None::<u32>.to_value(), Value::Nil);
        assert_eq!(Some(3u8).to_value(), Value::Int(3));
        assert_eq!((1, "a").to_value().to_string(), r#"[1, "a"]"#);
        assert_eq!(vec![true, false].to_value().to_string(), "[true, false]");
        assert_eq!(u64::MAX.to_value(), Value::number("18446744073709551615"));
    }
}
