//! Encoding of the document of version 2 as protobuf.
//!
//! Source: `openapiv2/OpenAPIv2.proto` of `github.com/google/gnostic`.

use serde_json::Value;

const VARINT: u64 = 0;
const DOUBLE: u64 = 1;
const BYTES: u64 = 2;

/// A message, encoded.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
            number >>= 7;
        }
        self.0.push(u8::try_from(number).unwrap());
    }

    fn tag(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.tag(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u64, message: Self) {
        self.tag(field, BYTES);
        self.varint(message.0.len() as u64);
        self.0.extend(message.0);
    }

    /// Adds a scalar, or each scalar of a list.
    fn scalar(&mut self, field: u64, value: &Value) {
        match value {
            Value::String(text) => self.bytes(field, text.as_bytes()),
            Value::Bool(flag) => {
                self.tag(field, VARINT);
                self.varint(u64::from(*flag));
            }
            Value::Number(number) => {
                self.tag(field, VARINT);
                self.varint(number.as_u64().unwrap());
            }
            Value::Array(items) => items.iter().for_each(|item| self.scalar(field, item)),
            Value::Null | Value::Object(_) => panic!("{value} is not a scalar"),
        }
    }
}

/// Encodes an object. `known` encodes a field and returns `false` if it does not know it. Unknown
/// fields are extensions.
fn object(
    value: &Value,
    extension: u64,
    known: impl Fn(&mut Message, &str, &Value) -> bool,
) -> Message {
    let mut message = Message::default();
    for (key, value) in value.as_object().unwrap() {
        if !known(&mut message, key, value) {
            assert!(key.starts_with("x-"), "{key} is not encoded");
            message.message(extension, named(key, any(value)));
        }
    }
    message
}

/// Encodes the entries of a map as a list of names and values.
fn entries(value: &Value, field: u64, encode: impl Fn(&Value) -> Message) -> Message {
    let mut message = Message::default();
    for (key, value) in value.as_object().into_iter().flatten() {
        message.message(field, named(key, encode(value)));
    }
    message
}

fn named(name: &str, value: Message) -> Message {
    let mut message = Message::default();
    message.bytes(1, name.as_bytes());
    message.message(2, value);
    message
}

/// Encodes any value as its YAML, which JSON is.
fn any(value: &Value) -> Message {
    let mut message = Message::default();
    message.bytes(2, format!("{value}\n").as_bytes());
    message
}

fn within(field: u64, message: Message) -> Message {
    let mut outer = Message::default();
    outer.message(field, message);
    outer
}

/// Encodes the scalar fields of a list of names with their numbers.
fn scalars(message: &mut Message, fields: &[(&str, u64)], key: &str, value: &Value) -> bool {
    let field = fields.iter().find(|(name, _)| *name == key);
    if let Some((_, number)) = field {
        message.scalar(*number, value);
    }
    field.is_some()
}

/// Encodes a document.
pub(super) fn document(document: &Value) -> Vec<u8> {
    let message = object(document, 16, |message, key, value| {
        match key {
            "swagger" => message.scalar(1, value),
            "info" => message.message(2, info(value)),
            "paths" => message.message(8, entries(value, 2, path_item)),
            "definitions" => message.message(9, entries(value, 1, schema)),
            "securityDefinitions" => message.message(13, entries(value, 1, security)),
            _ => return false,
        }
        true
    });
    message.0
}

fn info(value: &Value) -> Message {
    let fields = [("title", 1), ("version", 2), ("description", 3)];
    object(value, 7, |message, key, value| scalars(message, &fields, key, value))
}

/// Encodes an `ApiKeySecurity`.
fn security(value: &Value) -> Message {
    let fields = [("type", 1), ("name", 2), ("in", 3), ("description", 4)];
    let key = object(value, 5, |message, key, value| scalars(message, &fields, key, value));
    within(2, key)
}

fn path_item(value: &Value) -> Message {
    object(value, 10, |message, key, value| {
        match key {
            "get" => message.message(2, operation(value)),
            "put" => message.message(3, operation(value)),
            "post" => message.message(4, operation(value)),
            "delete" => message.message(5, operation(value)),
            "patch" => message.message(8, operation(value)),
            "parameters" => parameters(message, 9, value),
            _ => return false,
        }
        true
    })
}

fn operation(value: &Value) -> Message {
    let fields =
        [("tags", 1), ("description", 3), ("operationId", 5), ("produces", 6), ("consumes", 7)];
    object(value, 13, |message, key, value| {
        match key {
            "parameters" => parameters(message, 8, value),
            "responses" => message.message(9, entries(value, 1, response)),
            _ => return scalars(message, &fields, key, value),
        }
        true
    })
}

fn parameters(message: &mut Message, field: u64, list: &Value) {
    for value in list.as_array().unwrap() {
        message.message(field, within(1, parameter(value)));
    }
}

fn parameter(value: &Value) -> Message {
    let is_query = value["in"] == "query";
    if value["in"] == "body" {
        let fields = [("description", 1), ("name", 2), ("in", 3), ("required", 4)];
        let body = object(value, 6, |message, key, value| {
            if key == "schema" {
                message.message(5, schema(value));
                return true;
            }
            scalars(message, &fields, key, value)
        });
        return within(1, body);
    }
    // The other fields of a path's parameter have the number before.
    let less = u64::from(!is_query);
    let fields = [
        ("required", 1),
        ("in", 2),
        ("description", 3),
        ("name", 4),
        ("type", 6 - less),
        ("format", 7 - less),
        ("uniqueItems", 20 - less),
    ];
    let other =
        object(value, 23 - less, |message, key, value| scalars(message, &fields, key, value));
    within(2, within(if is_query { 3 } else { 4 }, other))
}

/// Encodes a `ResponseValue`.
fn response(value: &Value) -> Message {
    let response = object(value, 5, |message, key, value| {
        match key {
            "description" => message.scalar(1, value),
            "schema" => message.message(2, within(1, schema(value))),
            _ => return false,
        }
        true
    });
    within(1, response)
}

fn schema(value: &Value) -> Message {
    let fields = [
        ("$ref", 1),
        ("format", 2),
        ("title", 3),
        ("description", 4),
        ("maxLength", 11),
        ("minLength", 12),
        ("pattern", 13),
        ("maxItems", 14),
        ("minItems", 15),
        ("uniqueItems", 16),
        ("maxProperties", 17),
        ("minProperties", 18),
        ("required", 19),
    ];
    object(value, 31, |message, key, value| {
        match key {
            "default" => message.message(5, any(value)),
            "maximum" | "minimum" => {
                message.tag(if key == "maximum" { 7 } else { 9 }, DOUBLE);
                message.0.extend(value.as_f64().unwrap().to_le_bytes());
            }
            "enum" => {
                for item in value.as_array().unwrap() {
                    message.message(20, any(item));
                }
            }
            "additionalProperties" => {
                let mut item = Message::default();
                match value {
                    Value::Bool(_) => item.scalar(2, value),
                    _ => item.message(1, schema(value)),
                }
                message.message(21, item);
            }
            "type" => {
                let mut types = Message::default();
                types.scalar(1, value);
                message.message(22, types);
            }
            "items" => message.message(23, within(1, schema(value))),
            "properties" => message.message(25, entries(value, 1, schema)),
            _ => return scalars(message, &fields, key, value),
        }
        true
    })
}
