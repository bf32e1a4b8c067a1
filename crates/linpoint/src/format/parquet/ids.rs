//! Translates the arrays of a column into the numbers of its values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int8Type, Int16Type, Int32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::history::{MethodId, ObjectId, ProcessId};
use crate::value::{Value, ValueId, ValueRef, ValueTable};

/// An error in one row of an array.
#[derive(Debug)]
pub(super) struct BadRow {
    /// Counted from 0, within the array.
    pub(super) row: usize,
    pub(super) reason: String,
}

/// The integers of `array`, in whatever type they are stored; anything where they are null.
pub(super) fn integers(array: &dyn Array) -> Result<ScalarBuffer<i64>, BadRow> {
    macro_rules! widened {
        ($($variant:ident => $type:ty),*) => {
            match array.data_type() {
                $(DataType::$variant => {
                    array.as_primitive::<$type>().values().iter().map(|&i| i64::from(i)).collect()
                })*
                DataType::UInt64 => checked(array, array.as_primitive::<UInt64Type>().values(), |&i| {
                    i64::try_from(i).map_err(|_| format!("{i} does not fit 64 bits with a sign"))
                })?,
                DataType::Float64 => checked(array, array.as_primitive::<Float64Type>().values(), |&f| {
                    exact_integer(f).ok_or_else(|| format!("{f} is no integer; other values are given as JSON text"))
                })?,
                DataType::Null => vec![0; array.len()].into(),
                // Integers and times of 64 bits.
                _ => {
                    let data = array.to_data();
                    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
                }
            }
        };
    }
    Ok(widened!(
        Int8 => Int8Type,
        Int16 => Int16Type,
        Int32 => Int32Type,
        UInt8 => UInt8Type,
        UInt16 => UInt16Type,
        UInt32 => UInt32Type
    ))
}

fn checked<T>(
    array: &dyn Array,
    values: &[T],
    convert: impl Fn(&T) -> Result<i64, String>,
) -> Result<ScalarBuffer<i64>, BadRow> {
    let converted = values.iter().enumerate().map(|(row, value)| {
        if array.is_null(row) {
            return Ok(0);
        }
        convert(value).map_err(|reason| BadRow { row, reason })
    });
    converted.collect::<Result<Vec<_>, _>>().map(Into::into)
}

/// Some tools have no nullable integers and write floats instead.
fn exact_integer(f: f64) -> Option<i64> {
    const EXACT: f64 = (1i64 << f64::MANTISSA_DIGITS) as f64;
    (f.trunc() == f && f.abs() <= EXACT).then_some(f as i64)
}

/// The number of something in a table.
pub(super) trait Id: Copy {
    fn new(number: u32) -> Self;
}

macro_rules! ids {
    ($($id:ident),*) => {
        $(impl Id for $id {
            #[inline]
            fn new(number: u32) -> Self {
                $id(number)
            }
        })*
    };
}

ids!(ProcessId, ObjectId, MethodId, ValueId);

/// The numbers of a column's values, as far as it was read.
#[derive(Debug)]
pub(super) struct Ids<T> {
    pub(super) ids: Vec<T>,
    /// The number of rows of the table, or as many as capacity was reserved for.
    room: usize,
    /// The dictionary of the previous array, and the numbers of those of its texts that were met.
    dictionary: Option<(StringArray, Vec<u32>)>,
    /// The numbers of texts without such a dictionary.
    known: HashMap<Box<str>, u32, FixedState>,
}

/// The most texts without a dictionary whose numbers are kept: a column with more of them seldom repeats one.
const MOST_KNOWN: usize = 1 << 16;

/// The texts of a dictionary that is gone through however short the table is.
const SMALL_DICTIONARY: usize = 1 << 13;

/// A text of a dictionary that was not met yet.
const UNMET: u32 = u32::MAX;

impl<T: Id> Ids<T> {
    /// None yet, and room for some.
    pub(super) fn with_room(rows: usize) -> Self {
        Ids {
            ids: Vec::with_capacity(rows),
            room: rows,
            dictionary: None,
            known: HashMap::default(),
        }
    }

    /// Adds the integers of `array`; `null` gives the number of a null.
    pub(super) fn add_integers(
        &mut self,
        array: &dyn Array,
        table: &mut ValueTable,
        null: impl FnOnce(&mut ValueTable) -> u32,
    ) -> Result<(), BadRow> {
        let integers = integers(array)?;
        let Some(nulls) = nulls(array) else {
            let ids = integers.iter().map(|&i| T::new(table.intern_integer(i)));
            self.ids.extend(ids);
            return Ok(());
        };
        let start = self.ids.len();
        self.ids.resize(start + array.len(), T::new(null(table)));
        let ids = &mut self.ids[start..];
        for row in nulls.valid_indices() {
            ids[row] = T::new(table.intern_integer(integers[row]));
        }
        Ok(())
    }

    /// Adds the texts of `array`; `number` tells the number of a text and `null` that of a null.
    ///
    /// A dictionary that is much larger than the table is not gone through: the table may be a small part of a file.
    pub(super) fn add_texts<Table>(
        &mut self,
        array: &dyn Array,
        table: &mut Table,
        null: impl FnOnce(&mut Table) -> u32,
        number: impl Fn(&mut Table, &str) -> Result<u32, String>,
    ) -> Result<(), BadRow> {
        match array.data_type() {
            DataType::Dictionary(keys, texts)
                if (&**keys, &**texts) == (&DataType::Int32, &DataType::Utf8)
                    && array.as_dictionary::<Int32Type>().values().len()
                        <= SMALL_DICTIONARY + 4 * self.room =>
            {
                self.add_dictionary(array, table, null, number)
            }
            _ => self.add_other_texts(array, table, null, number),
        }
    }

    /// The same for the dictionaries that files have.
    fn add_dictionary<Table>(
        &mut self,
        array: &dyn Array,
        table: &mut Table,
        null: impl FnOnce(&mut Table) -> u32,
        number: impl Fn(&mut Table, &str) -> Result<u32, String>,
    ) -> Result<(), BadRow> {
        let array = array.as_dictionary::<Int32Type>();
        let texts = array.values().as_string::<i32>();
        let (_, numbers) = match &mut self.dictionary {
            Some(known) if is_same(&known.0, texts) => known,
            other => other.insert((texts.clone(), vec![UNMET; texts.len()])),
        };
        let keys = array.keys().values();
        if array.null_count() == 0 && !numbers.is_empty() && !numbers.contains(&UNMET) {
            // The common case, without a branch for each row: no key is beyond a dictionary that is not empty.
            let ids = keys.iter().map(|&key| T::new(numbers[key as usize]));
            self.ids.extend(ids);
            return Ok(());
        }
        let mut id_of = |row: usize, table: &mut Table| {
            let bad = |reason| BadRow { row, reason };
            let key = keys[row] as usize;
            let known = numbers
                .get_mut(key)
                .ok_or_else(|| bad("its text is not in the dictionary".to_owned()))?;
            if *known == UNMET {
                *known = number(table, texts.value(key)).map_err(bad)?;
            }
            Ok(*known)
        };
        let Some(nulls) = nulls(array) else {
            for row in 0..keys.len() {
                self.ids.push(T::new(id_of(row, table)?));
            }
            return Ok(());
        };
        let start = self.ids.len();
        self.ids.resize(start + keys.len(), T::new(null(table)));
        for row in nulls.valid_indices() {
            self.ids[start + row] = T::new(id_of(row, table)?);
        }
        Ok(())
    }

    /// The same for texts of any type.
    fn add_other_texts<Table>(
        &mut self,
        array: &dyn Array,
        table: &mut Table,
        null: impl FnOnce(&mut Table) -> u32,
        number: impl Fn(&mut Table, &str) -> Result<u32, String>,
    ) -> Result<(), BadRow> {
        let dictionary = array.as_any_dictionary_opt();
        let texts = Texts::of(dictionary.map_or(array, |dictionary| dictionary.values()));
        // Keys of an empty dictionary are null.
        let keys = dictionary
            .filter(|dictionary| !dictionary.values().is_empty())
            .map(|dictionary| dictionary.normalized_keys());
        let nulls = nulls(array);
        let null = nulls.as_ref().map_or(0, |_| null(table));
        for row in 0..array.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                self.ids.push(T::new(null));
                continue;
            }
            let text = texts.get(keys.as_ref().map_or(row, |keys| keys[row]));
            let id = match self.known.get(text) {
                Some(&id) => id,
                None => {
                    let id = number(table, text).map_err(|reason| BadRow { row, reason })?;
                    if self.known.len() < MOST_KNOWN {
                        self.known.insert(text.into(), id);
                    }
                    id
                }
            };
            self.ids.push(T::new(id));
        }
        Ok(())
    }

    /// Adds the truth values of `array`.
    pub(super) fn add_truths(&mut self, array: &dyn Array, table: &mut ValueTable) {
        let truths = array.as_boolean().iter();
        let values = truths.map(|truth| truth.map_or(Value::Nil, Value::Bool));
        let ids = values.map(|value| T::new(table.intern(value.into())));
        self.ids.extend(ids);
    }
}

/// Whether these are texts, in a dictionary or not.
pub(super) fn is_text(data_type: &DataType) -> bool {
    let is_plain = |data_type: &DataType| {
        matches!(
            data_type,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        )
    };
    match data_type {
        DataType::Dictionary(_, texts) => is_plain(texts),
        other => is_plain(other),
    }
}

/// An array of texts.
enum Texts<'a> {
    Narrow(&'a StringArray),
    Wide(&'a LargeStringArray),
    Views(&'a StringViewArray),
}

impl<'a> Texts<'a> {
    fn of(array: &'a dyn Array) -> Self {
        match array.data_type() {
            DataType::LargeUtf8 => Texts::Wide(array.as_string()),
            DataType::Utf8View => Texts::Views(array.as_string_view()),
            _ => Texts::Narrow(array.as_string()),
        }
    }

    fn get(&self, row: usize) -> &'a str {
        match self {
            Texts::Narrow(texts) => texts.value(row),
            Texts::Wide(texts) => texts.value(row),
            Texts::Views(texts) => texts.value(row),
        }
    }
}

/// Whether both are the same memory, so that numbers found for one hold for the other.
fn is_same(a: &StringArray, b: &StringArray) -> bool {
    a.len() == b.len()
        && a.value_offsets().as_ptr() == b.value_offsets().as_ptr()
        && a.value_data().as_ptr() == b.value_data().as_ptr()
}

/// Which rows are null, if any.
pub(super) fn nulls(array: &dyn Array) -> Option<NullBuffer> {
    array.logical_nulls().filter(|nulls| nulls.null_count() > 0)
}

/// The number of nil.
pub(super) fn nil(table: &mut ValueTable) -> u32 {
    table.intern(ValueRef::Value(Value::Nil))
}
