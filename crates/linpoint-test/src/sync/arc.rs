//! Shared ownership whose counts are under control: what one thread sees of them depends on what others cloned and dropped.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::panic::Location;
use std::sync;

use crate::runtime::access::{Effect, Kind};
use crate::runtime::memory_event::{Action, remember};
use crate::runtime::{Handle, Turn};

/// As [`std::sync::Arc`]. In a controlled run each use of its counts is a scheduling point: clone, drop, downgrade, upgrade, and
/// all that looks at the counts.
///
/// A value of unsized type is made by [`from_std`](Arc::from_std). There is no `into_raw`, and `Arc<Self>` is no receiver of a
/// method; `std::sync::Arc` has both, and its counts are not under control.
pub struct Arc<T: ?Sized> {
    counts: sync::Arc<Handle>,
    /// `None` only while it is consumed.
    value: Option<sync::Arc<T>>,
    location: &'static Location<'static>,
}

/// As [`std::sync::Weak`], see [`Arc`].
pub struct Weak<T: ?Sized> {
    counts: sync::Arc<Handle>,
    value: sync::Weak<T>,
    location: &'static Location<'static>,
}

/// An owner that goes happens before the one who finds that it is alone.
const BEFORE_OTHERS: Action = Action::Give;
const AFTER_OTHERS: Action = Action::Take;

const CONSUMED: &str = "bug: a consumed Arc is used";

impl<T> Arc<T> {
    /// A new value with one owner.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Arc::from_std(sync::Arc::new(value))
    }

    /// A new value that has weak pointers to itself.
    #[track_caller]
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Self {
        let (counts, location) = (sync::Arc::new(Handle::new()), Location::caller());
        let value = sync::Arc::new_cyclic(|weak| {
            make(&Weak {
                counts: sync::Arc::clone(&counts),
                value: weak.clone(),
                location,
            })
        });
        Arc {
            counts,
            value: Some(value),
            location,
        }
    }

    /// The value, if this is its only owner.
    ///
    /// # Errors
    /// Gives the pointer back if there are other owners.
    #[track_caller]
    pub fn try_unwrap(mut this: Self) -> Result<T, Self> {
        let turn = this.counts.access();
        let value = this.value.take().expect(CONSUMED);
        match sync::Arc::try_unwrap(value) {
            Ok(value) => {
                turn.touch(Kind::Write, Effect::Changed, || {
                    "try_unwrap: the only owner".to_owned()
                });
                remember(&this.counts, AFTER_OTHERS);
                Ok(value)
            }
            Err(value) => {
                turn.touch(Kind::Read, Effect::Unchanged, || {
                    "try_unwrap: not the only owner".to_owned()
                });
                this.value = Some(value);
                Err(this)
            }
        }
    }

    /// Gives the pointer up. Returns the value to its last owner.
    #[track_caller]
    pub fn into_inner(mut this: Self) -> Option<T> {
        let turn = this.counts.access();
        let value = this.value.take().and_then(sync::Arc::into_inner);
        remember(&this.counts, BEFORE_OTHERS);
        if value.is_some() {
            remember(&this.counts, AFTER_OTHERS);
        }
        turn.touch(Kind::Write, Effect::Changed, || match value {
            Some(_) => "into_inner: the last owner".to_owned(),
            None => "into_inner: not the last owner".to_owned(),
        });
        value
    }

    /// The value, or a copy of it if there are other owners.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|shared| T::clone(&shared))
    }
}

impl<T: ?Sized> Arc<T> {
    /// The same value, with counts under control: those of `value` should not be used elsewhere.
    ///
    /// ```
    /// use linpoint_test::sync::Arc;
    ///
    /// let shared: Arc<dyn std::fmt::Debug> = Arc::from_std(std::sync::Arc::new(7));
    /// assert_eq!(Arc::strong_count(&shared), 1);
    /// ```
    #[track_caller]
    pub fn from_std(value: sync::Arc<T>) -> Self {
        Arc {
            counts: sync::Arc::new(Handle::new()),
            value: Some(value),
            location: Location::caller(),
        }
    }

    fn value(&self) -> &sync::Arc<T> {
        self.value.as_ref().expect(CONSUMED)
    }

    /// How many owners there are.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        let turn = this.counts.look();
        let count = sync::Arc::strong_count(this.value());
        turn.describe(|| format!("strong_count: {count}"));
        count
    }

    /// How many weak pointers there are.
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        let turn = this.counts.look();
        let count = sync::Arc::weak_count(this.value());
        turn.describe(|| format!("weak_count: {count}"));
        count
    }

    /// The value, if there is no other owner and no weak pointer.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let turn = this.counts.look();
        let value = sync::Arc::get_mut(this.value.as_mut().expect(CONSUMED));
        if value.is_some() {
            remember(&this.counts, AFTER_OTHERS);
        }
        turn.describe(|| match value {
            Some(_) => "get_mut: the only owner".to_owned(),
            None => "get_mut: not the only owner".to_owned(),
        });
        value
    }

    /// The value, which becomes a copy of its own if there are other owners.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        let turn = this.counts.access();
        let value = this.value.as_mut().expect(CONSUMED);
        let is_shared = sync::Arc::strong_count(value) > 1;
        let had_weak = sync::Arc::weak_count(value) > 0;
        let value = sync::Arc::make_mut(value);
        turn.touch(
            Kind::Write,
            Effect::changed_if(is_shared || had_weak),
            || "make_mut".to_owned(),
        );
        remember(&this.counts, BEFORE_OTHERS);
        if !is_shared {
            remember(&this.counts, AFTER_OTHERS);
        }
        if is_shared {
            this.counts = sync::Arc::new(Handle::new());
        }
        value
    }

    /// A weak pointer to the value.
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        let turn = this.counts.access();
        let value = sync::Arc::downgrade(this.value());
        turn.touch(Kind::Write, Effect::Changed, || "downgrade".to_owned());
        Weak {
            counts: sync::Arc::clone(&this.counts),
            value,
            location: Location::caller(),
        }
    }

    /// Whether both point to the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        sync::Arc::ptr_eq(this.value(), other.value())
    }

    /// The address of the value.
    pub fn as_ptr(this: &Self) -> *const T {
        sync::Arc::as_ptr(this.value())
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let turn = self.counts.access();
        let value = sync::Arc::clone(self.value());
        turn.touch(Kind::Write, Effect::Changed, || "clone".to_owned());
        Arc {
            counts: sync::Arc::clone(&self.counts),
            value: Some(value),
            location: Location::caller(),
        }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        if self.value.is_some() {
            let turn: Turn = self.counts.give_back(Kind::Write, self.location);
            remember(&self.counts, BEFORE_OTHERS);
            if sync::Arc::strong_count(self.value()) == 1 {
                remember(&self.counts, AFTER_OTHERS);
            }
            drop(self.value.take());
            turn.describe(|| "drop".to_owned());
        }
    }
}

impl<T> Weak<T> {
    /// A weak pointer to nothing.
    #[track_caller]
    pub fn new() -> Self {
        Weak {
            counts: sync::Arc::new(Handle::new()),
            value: sync::Weak::new(),
            location: Location::caller(),
        }
    }
}

impl<T: ?Sized> Weak<T> {
    /// A pointer to the value, if it has an owner.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let turn = self.counts.access();
        let value = self.value.upgrade();
        match value {
            Some(_) => {
                turn.touch(Kind::Write, Effect::Changed, || "upgrade".to_owned());
                remember(&self.counts, AFTER_OTHERS);
            }
            None => turn.touch(Kind::Read, Effect::Unchanged, || {
                "upgrade: there is no owner".to_owned()
            }),
        }
        value.map(|value| Arc {
            counts: sync::Arc::clone(&self.counts),
            value: Some(value),
            location: Location::caller(),
        })
    }

    /// How many owners there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        let turn = self.counts.look();
        let count = self.value.strong_count();
        turn.describe(|| format!("strong_count: {count}"));
        count
    }

    /// How many weak pointers there are; 0 if there is no owner.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        let turn = self.counts.look();
        let count = self.value.weak_count();
        turn.describe(|| format!("weak_count: {count}"));
        count
    }

    /// Whether both point to the same value, or to nothing.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.value.ptr_eq(&other.value)
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        let turn = self.counts.access();
        let value = self.value.clone();
        turn.touch(Kind::Write, Effect::Changed, || {
            "clone of a weak pointer".to_owned()
        });
        Weak {
            counts: sync::Arc::clone(&self.counts),
            value,
            location: Location::caller(),
        }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        let turn = self.counts.give_back(Kind::Write, self.location);
        remember(&self.counts, BEFORE_OTHERS);
        // The std pointer would be dropped after this, still in the same step; no thread runs in between.
        turn.describe(|| "drop of a weak pointer".to_owned());
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value()
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
