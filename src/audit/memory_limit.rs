//! Memory for what a file unpacks to: each element of a sequence, each text and each box is charged
//! before it is made, so that a small file cannot fill the memory.
//!
//! A few bytes of MessagePack can stand for a row of a kilobyte, because fields may be left out. So
//! the size of the file, packed or unpacked, says little about the memory that it takes.

use std::{cell::Cell, fmt};

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// What one run may hold of tallies, unless the user allows more.
pub(crate) const MEMORY_DEFAULT: usize = 2 << 30;

/// Elements exist twice while they are moved into the sum of several tallies, and into rows of
/// a report.
const COPIES: usize = 2;

/// What an allocation takes beside its content.
const ALLOCATION_BYTES: usize = 32;

/// What bytes take beside themselves: short time series wait in a list of four entries.
const BYTES_BESIDE: usize = 128;

/// A node of a tree has room for 11 elements, and is at least half full.
const NODE_ROOM: usize = 11;
const NODE_MIN: usize = 6;

/// Larger elements are not in trees.
const TREE_ELEMENT_BYTES_MAX: usize = 64;

/// A limit of memory, and what is taken of it.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    limit: usize,
    taken: Cell<usize>,
    is_exceeded: Cell<bool>,
}

impl MemoryLimit {
    /// Nothing of `limit` bytes is taken.
    pub(crate) fn new(limit: usize) -> MemoryLimit {
        MemoryLimit { limit, taken: Cell::new(0), is_exceeded: Cell::new(false) }
    }

    /// The limit in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// The bytes that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.get()
    }

    /// What is left.
    pub(crate) fn left(&self) -> usize {
        self.limit.saturating_sub(self.taken.get())
    }

    /// Whether more was asked for than there is, since this was last called.
    pub(crate) fn was_exceeded(&self) -> bool {
        self.is_exceeded.take()
    }

    /// Takes `bytes`; `false` if they are not left.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let has = bytes <= self.left();
        match has {
            true => self.taken.set(self.taken.get() + bytes),
            false => self.is_exceeded.set(true),
        }
        has
    }

    /// Only the first `taken` bytes are still taken.
    pub(crate) fn back_to(&self, taken: usize) {
        self.taken.set(taken.min(self.taken.get()));
    }

    fn charge<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let has = self.take(bytes.saturating_mul(COPIES));
        has.then_some(()).ok_or_else(|| E::custom("the limit of memory is reached"))
    }

    /// `deserializer`, which charges what it makes beside a value of `place` bytes.
    pub(crate) fn charging<D>(&self, deserializer: D, place: usize) -> Charging<'_, D> {
        Charging { inner: deserializer, memory: self, place, is_list: false }
    }
}

/// A part of a deserializer that charges what is made of its input.
#[derive(Debug)]
pub(crate) struct Charging<'m, T> {
    inner: T,
    memory: &'m MemoryLimit,
    /// The bytes of the place where the value goes; a larger value is in a box.
    place: usize,
    /// Whether the elements are on the heap, and not fields of a value.
    is_list: bool,
}

impl<'m, T> Charging<'m, T> {
    fn part<P>(&self, inner: P) -> Charging<'m, P> {
        Charging { inner, memory: self.memory, place: self.place, is_list: self.is_list }
    }

    /// Splits off the inner value.
    fn split(self) -> (T, Charging<'m, ()>) {
        let Charging { inner, memory, place, is_list } = self;
        (inner, Charging { inner: (), memory, place, is_list })
    }

    /// Charges the box of a value of `bytes`, if they do not fit into the place.
    fn charge_box<E: Error>(&self, bytes: usize) -> Result<(), E> {
        match bytes > self.place {
            true => self.memory.charge(bytes + ALLOCATION_BYTES),
            false => Ok(()),
        }
    }
}

/// Methods of a deserializer that take only a visitor.
macro_rules! deserialize_simple {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            let (inner, this) = self.split();
            inner.$method(this.visitor(visitor, false)?)
        }
    )* };
}

/// The same for lists and values of any kind, whose elements are on the heap.
macro_rules! deserialize_list {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            let (inner, this) = self.split();
            inner.$method(this.visitor(visitor, true)?)
        }
    )* };
}

impl<'m> Charging<'m, ()> {
    fn visitor<'de, V: Visitor<'de>, E: Error>(
        self,
        visitor: V,
        is_list: bool,
    ) -> Result<Charging<'m, V>, E> {
        self.charge_box::<E>(size_of::<V::Value>())?;
        let place = self.place.max(size_of::<V::Value>());
        Ok(Charging { inner: visitor, memory: self.memory, place, is_list })
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Charging<'_, D> {
    type Error = D::Error;

    deserialize_simple! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option
        deserialize_unit deserialize_identifier
    }

    deserialize_list! {
        deserialize_any deserialize_seq deserialize_map
    }

    /// What is ignored takes no memory.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_ignored_any(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, this) = self.split();
        inner.deserialize_unit_struct(name, this.visitor(visitor, false)?)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, this) = self.split();
        inner.deserialize_newtype_struct(name, this.visitor(visitor, false)?)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, this) = self.split();
        inner.deserialize_tuple(len, this.visitor(visitor, false)?)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, this) = self.split();
        inner.deserialize_tuple_struct(name, len, this.visitor(visitor, false)?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, this) = self.split();
        inner.deserialize_struct(name, fields, this.visitor(visitor, false)?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, this) = self.split();
        inner.deserialize_enum(name, variants, this.visitor(visitor, false)?)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Methods of a visitor for values that take no memory of their own.
macro_rules! visit_plain {
    ($($method:ident: $type:ty)*) => { $(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$method(value)
        }
    )* };
}

/// The same for texts and bytes, which are copied.
macro_rules! visit_copied {
    ($($method:ident: $type:ty, $beside:expr;)*) => { $(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            // Names of fields and the like are compared, and not kept.
            if size_of::<V::Value>() >= size_of::<&str>() {
                self.memory.charge::<E>(value.len().saturating_add($beside))?;
            }
            self.inner.$method(value)
        }
    )* };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Charging<'_, V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(formatter)
    }

    visit_plain! {
        visit_bool: bool visit_i8: i8 visit_i16: i16 visit_i32: i32 visit_i64: i64
        visit_i128: i128 visit_u8: u8 visit_u16: u16 visit_u32: u32 visit_u64: u64
        visit_u128: u128 visit_f32: f32 visit_f64: f64 visit_char: char
    }

    visit_copied! {
        visit_str: &str, ALLOCATION_BYTES;
        visit_borrowed_str: &'de str, ALLOCATION_BYTES;
        visit_string: String, ALLOCATION_BYTES;
        visit_bytes: &[u8], BYTES_BESIDE;
        visit_borrowed_bytes: &'de [u8], BYTES_BESIDE;
        visit_byte_buf: Vec<u8>, BYTES_BESIDE;
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = self.part(inner);
        self.inner.visit_some(inner)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = self.part(inner);
        self.inner.visit_newtype_struct(inner)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        let list = Elements { list: self.part(list), made: 0 };
        self.inner.visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        let list = Elements { list: self.part(list), made: 0 };
        self.inner.visit_map(list)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        let variant = self.part(variant);
        self.inner.visit_enum(variant)
    }
}

/// The elements of a list, or the fields of a value.
struct Elements<'m, A> {
    list: Charging<'m, A>,
    made: usize,
}

impl<'m, A> Elements<'m, A> {
    /// Charges the next element of a list: its share of a tree, or of an array.
    fn charge_next<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let element = match bytes <= TREE_ELEMENT_BYTES_MAX {
            true if self.made.is_multiple_of(NODE_MIN) => bytes * NODE_ROOM,
            true => 0,
            false => bytes,
        };
        let first = if self.made == 0 { ALLOCATION_BYTES } else { 0 };
        match self.list.is_list {
            true => self.list.memory.charge(element + first),
            false => Ok(()),
        }
    }

    fn seed<S>(&self, seed: S, place: usize) -> Charging<'m, S> {
        Charging { inner: seed, memory: self.list.memory, place, is_list: false }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        if self.size_hint() != Some(0) {
            self.charge_next::<A::Error>(size_of::<S::Value>())?;
            self.made += 1;
        }
        let seed = self.seed(seed, size_of::<S::Value>());
        self.list.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.list.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        if self.size_hint() != Some(0) {
            self.charge_next::<A::Error>(size_of::<S::Value>())?;
        }
        let seed = self.seed(seed, size_of::<S::Value>());
        self.list.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.charge_next::<A::Error>(size_of::<S::Value>())?;
        self.made += 1;
        let seed = self.seed(seed, size_of::<S::Value>());
        self.list.inner.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.list.inner.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Charging<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.part(deserializer);
        self.inner.deserialize(deserializer)
    }
}

impl<'de, 'm, A: EnumAccess<'de>> EnumAccess<'de> for Charging<'m, A> {
    type Error = A::Error;
    type Variant = Charging<'m, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (inner, this) = self.split();
        let (value, variant) = inner.variant_seed(this.part(seed))?;
        Ok((value, this.part(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Charging<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let (inner, this) = self.split();
        inner.newtype_variant_seed(this.part(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let (inner, this) = self.split();
        inner.tuple_variant(len, this.visitor(visitor, false)?)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let (inner, this) = self.split();
        inner.struct_variant(fields, this.visitor(visitor, false)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde::Deserialize;

    /// As the deserializer itself: addresses are texts in JSON, and errors say what was expected.
    #[test]
    fn what_is_read_is_that_of_the_deserializer_itself() {
        let memory = MemoryLimit::new(1 << 20);
        let read = |text: &str| {
            let mut json = serde_json::Deserializer::from_str(text);
            let value = std::net::IpAddr::deserialize(memory.charging(&mut json, 32));
            value.map_err(|err| err.to_string())
        };
        let plain = |text: &str| {
            serde_json::from_str::<std::net::IpAddr>(text).map_err(|err| err.to_string())
        };
        for text in ["\"192.0.2.1\"", "\"2001:db8::1\"", "true", "\"a\""] {
            assert_eq!(read(text), plain(text), "{text}");
        }
    }
}
