//! JSON that is read as strictly as a Composition means it: serde would take a list for a mapping,
//! its items for the fields in their order.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use krm_yaml::scalar::resolve;
use krm_yaml::{Scalar, is_word};

/// A value, of which a mapping is read from a mapping only.
pub(crate) struct Strict(pub(crate) Value);

impl IntoDeserializer<'_, serde_json::Error> for Strict {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Strict {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Strict)))
            }
            Value::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key, Self(value)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
            scalar => scalar.deserialize_any(visitor),
        }
    }

    /// Also from `yes` and the like, which is a text elsewhere in a configuration.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match &self.0 {
            Value::String(text) if is_word(text) => match resolve(text) {
                Scalar::Bool(flag) => visitor.visit_bool(flag),
                _ => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Array(_) => Err(Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match &self.0 {
            // By its spelling: of one like `1.10`, serde would say that it is a mapping.
            Value::Number(number) if number.as_i64().is_none() && number.as_u64().is_none() => {
                let found = format!("the number `{number}`");
                Err(Error::invalid_type(Unexpected::Other(&found), &visitor))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.deserialize_str(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}
