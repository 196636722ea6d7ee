//! What an element of a document can hold, and structs whose fields are elements.

use super::XmlError;
use super::read::Reader;
use super::write::Writer;
use crate::checksum::{ChecksumAlgorithm, ChecksumType};
use crate::etag::ETag;
use crate::time::{iso8601, parse_http_date, parse_iso8601};
use jiff::Timestamp;
use std::borrow::Cow;

/// How a value is written that can be written in several ways.
pub(super) struct Plain;

/// As the name of an object: percent-encoded where that was asked for.
pub(super) struct Name;

/// As an ETag without its quotes.
pub(super) struct Bare;

/// What one element holds.
pub(super) trait Value<Form>: Sized {
    /// Reads an element and leaves it. `None` is as if it were not there.
    fn read(element: &'static str, reader: &mut Reader<'_>) -> Result<Option<Self>, XmlError>;

    fn write(&self, element: &'static str, writer: &mut Writer);

    /// What the lack of the element means, if it means anything.
    fn absent() -> Option<Self> {
        None
    }
}

/// What elements of one name hold: one value, at most one, or any number.
pub(super) trait Field<Form>: Sized {
    /// What was read of it.
    type Slot: Default;

    fn read(slot: &mut Self::Slot, element: &'static str, reader: &mut Reader<'_>) -> Result<(), XmlError>;

    fn take(slot: Self::Slot, element: &'static str) -> Result<Self, XmlError>;

    fn write(&self, element: &'static str, writer: &mut Writer);
}

impl<Form, V: Value<Form>> Field<Form> for Option<V> {
    type Slot = Option<V>;

    fn read(slot: &mut Option<V>, element: &'static str, reader: &mut Reader<'_>) -> Result<(), XmlError> {
        match V::read(element, reader)? {
            Some(value) if slot.is_none() => *slot = Some(value),
            Some(_) => return Err(XmlError::Twice { element }),
            None => {}
        }
        Ok(())
    }

    fn take(slot: Option<V>, _element: &'static str) -> Result<Self, XmlError> {
        Ok(slot)
    }

    fn write(&self, element: &'static str, writer: &mut Writer) {
        if let Some(value) = self {
            value.write(element, writer);
        }
    }
}

impl<Form, V: Value<Form>> Field<Form> for Vec<V> {
    type Slot = Vec<V>;

    fn read(slot: &mut Vec<V>, element: &'static str, reader: &mut Reader<'_>) -> Result<(), XmlError> {
        slot.extend(V::read(element, reader)?);
        Ok(())
    }

    fn take(slot: Vec<V>, _element: &'static str) -> Result<Self, XmlError> {
        Ok(slot)
    }

    fn write(&self, element: &'static str, writer: &mut Writer) {
        for value in self {
            value.write(element, writer);
        }
    }
}

/// The field of a value that must be there, or whose lack means something.
macro_rules! one {
    ($($type:ty, $form:ty;)*) => {
        $(
            impl $crate::xml::element::Field<$form> for $type {
                type Slot = Option<$type>;

                fn read(
                    slot: &mut Option<$type>,
                    element: &'static str,
                    reader: &mut $crate::xml::read::Reader<'_>,
                ) -> Result<(), $crate::xml::XmlError> {
                    <Option<$type> as $crate::xml::element::Field<$form>>::read(slot, element, reader)
                }

                fn take(slot: Option<$type>, element: &'static str) -> Result<Self, $crate::xml::XmlError> {
                    slot.or_else(<$type as $crate::xml::element::Value<$form>>::absent)
                        .ok_or($crate::xml::XmlError::Missing { element })
                }

                fn write(&self, element: &'static str, writer: &mut $crate::xml::write::Writer) {
                    <$type as $crate::xml::element::Value<$form>>::write(self, element, writer);
                }
            }
        )*
    };
}

pub(super) use one;

one! {
    String, Plain;
    String, Name;
    bool, Plain;
    i32, Plain;
    u32, Plain;
    u64, Plain;
    Timestamp, Plain;
    ETag, Plain;
    ETag, Bare;
}

impl Value<Plain> for String {
    fn read(_element: &'static str, reader: &mut Reader<'_>) -> Result<Option<Self>, XmlError> {
        Ok(Some(reader.text()?.into_owned()))
    }

    fn write(&self, element: &'static str, writer: &mut Writer) {
        writer.text(element, self);
    }

    fn absent() -> Option<Self> {
        Some(String::new())
    }
}

impl Value<Name> for String {
    fn read(element: &'static str, reader: &mut Reader<'_>) -> Result<Option<Self>, XmlError> {
        Ok(Some(reader.name(element)?))
    }

    fn write(&self, element: &'static str, writer: &mut Writer) {
        writer.name(element, self);
    }

    fn absent() -> Option<Self> {
        Some(String::new())
    }
}

impl Value<Plain> for ETag {
    fn read(_element: &'static str, reader: &mut Reader<'_>) -> Result<Option<Self>, XmlError> {
        Ok(Some(ETag::parse(&reader.text()?)))
    }

    fn write(&self, element: &'static str, writer: &mut Writer) {
        writer.text(element, &self.to_string());
    }
}

impl Value<Bare> for ETag {
    fn read(element: &'static str, reader: &mut Reader<'_>) -> Result<Option<Self>, XmlError> {
        <ETag as Value<Plain>>::read(element, reader)
    }

    fn write(&self, element: &'static str, writer: &mut Writer) {
        writer.text(element, self.as_str());
    }
}

/// Values whose text is neither names nor in need of an escape, with spaces around it of no account.
macro_rules! scalars {
    ($($type:ty: $read:expr, $write:expr, $absent:expr;)*) => {
        $(
            impl Value<Plain> for $type {
                fn read(element: &'static str, reader: &mut Reader<'_>) -> Result<Option<Self>, XmlError> {
                    let read: fn(&str) -> Result<Option<$type>, ()> = $read;
                    read(reader.text()?.trim_ascii()).map_err(|()| XmlError::Value { element })
                }

                fn write(&self, element: &'static str, writer: &mut Writer) {
                    let write: for<'v> fn(&'v $type) -> Cow<'v, str> = $write;
                    writer.text(element, &write(self));
                }

                fn absent() -> Option<Self> {
                    $absent
                }
            }
        )*
    };
}

scalars! {
    bool: |text| boolean(text).map(Some).ok_or(()), |value| if *value { "true".into() } else { "false".into() },
        Some(false);
    i32: |text| text.parse().map(Some).map_err(drop), |value| value.to_string().into(), None;
    u32: |text| text.parse().map(Some).map_err(drop), |value| value.to_string().into(), None;
    u64: |text| text.parse().map(Some).map_err(drop), |value| value.to_string().into(), None;
    Timestamp: |text| parse_iso8601(text).or_else(|_| parse_http_date(text)).map(Some).map_err(drop),
        |value| iso8601(*value).into(), None;
    // What a later server has, and this client does not know, is of no use to it and does no harm.
    ChecksumAlgorithm: |text| Ok(text.parse().ok()), |value| value.name().into(), None;
    ChecksumType: |text| Ok(text.parse().ok()), |value| value.name().into(), None;
    EncodingType: |text| Ok((text == "url").then_some(EncodingType::Url)), |_| "url".into(), None;
}

/// As in XML's schemas.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "1" | "True" | "TRUE" => Some(true),
        "false" | "0" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// How the names of objects are encoded in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EncodingType {
    /// Percent-encoded, so that every name can be read. The types of this module hold names as they are, and encode and
    /// decode them on the way.
    Url,
}

/// What an element holds that holds elements.
pub(super) trait Content: Sized {
    /// Reads what stands in the element, and leaves it.
    fn read_content(reader: &mut Reader<'_>) -> Result<Self, XmlError>;

    fn write_content(&self, writer: &mut Writer);
}

/// Reads a document whose root is `root`. `encodes_names` tells from what was read whether names are to be decoded.
pub(super) fn from_xml<T: Content>(
    root: &'static str,
    xml: &[u8],
    encodes_names: fn(&T) -> bool,
) -> Result<T, XmlError> {
    let read = |mut reader: Reader<'_>| -> Result<T, XmlError> {
        reader.root(root)?;
        let content = T::read_content(&mut reader)?;
        reader.end()?;
        Ok(content)
    };
    let reader = Reader::new(xml)?;
    let decoded = reader.with_decoded_names();
    // The encoding may be named after the names.
    match read(reader)? {
        content if encodes_names(&content) => read(decoded),
        content => Ok(content),
    }
}

pub(super) fn to_xml<T: Content>(root: &'static str, content: &T, encodes_names: bool) -> String {
    let mut writer = Writer::document();
    if encodes_names {
        writer.encode_names();
    }
    writer.open_root(root);
    content.write_content(&mut writer);
    writer.close(root);
    writer.finish()
}

/// Structs whose fields are elements, in the order in which they are written: a field, its type, its element, and its
/// form unless it is plain. A field after `..` takes the checksums, whose elements have names of their own. A struct
/// with a root is a document, and may name the field that tells how names are encoded.
macro_rules! elements {
    ($(
        $(#[$about:meta])*
        $name:ident $(($root:literal $(, $encoding:ident)?))? {
            $($(#[$field_about:meta])* $field:ident: $type:ty = $element:literal $(($form:ident))?,)*
            $(..$checksums:ident)?
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Clone, PartialEq, Eq, Debug, Default)]
            pub struct $name {
                $($(#[$field_about])* pub $field: $type,)*
                $(
                    /// The elements of checksums.
                    pub $checksums: $crate::xml::ChecksumElements,
                )?
            }

            impl $crate::xml::element::Content for $name {
                fn read_content(reader: &mut $crate::xml::read::Reader<'_>) -> Result<Self, $crate::xml::XmlError> {
                    use $crate::xml::element::*;
                    $(let mut $field = <<$type as Field<form!($($form)?)>>::Slot>::default();)*
                    $(let mut $checksums = $crate::xml::ChecksumElements::default();)?
                    while let Some(name) = reader.element()? {
                        match name.as_str() {
                            $($element => <$type as Field<form!($($form)?)>>::read(&mut $field, $element, reader)?,)*
                            $(name if $checksums.read(name, reader)? => {})?
                            _ => reader.skip()?,
                        }
                    }
                    Ok($name {
                        $($field: <$type as Field<form!($($form)?)>>::take($field, $element)?,)*
                        $($checksums,)?
                    })
                }

                fn write_content(&self, writer: &mut $crate::xml::write::Writer) {
                    use $crate::xml::element::*;
                    $(<$type as Field<form!($($form)?)>>::write(&self.$field, $element, writer);)*
                    $(self.$checksums.write(writer);)?
                }
            }

            impl $crate::xml::element::Value<$crate::xml::element::Plain> for $name {
                fn read(
                    _element: &'static str,
                    reader: &mut $crate::xml::read::Reader<'_>,
                ) -> Result<Option<Self>, $crate::xml::XmlError> {
                    <$name as $crate::xml::element::Content>::read_content(reader).map(Some)
                }

                fn write(&self, element: &'static str, writer: &mut $crate::xml::write::Writer) {
                    writer.open(element);
                    <$name as $crate::xml::element::Content>::write_content(self, writer);
                    writer.close(element);
                }
            }

            $crate::xml::element::one! { $name, $crate::xml::element::Plain; }

            $(
                impl $name {
                    /// The name of the document's root.
                    pub const ROOT: &'static str = $root;

                    /// Writes the document.
                    pub fn to_xml(&self) -> String {
                        $crate::xml::element::to_xml(Self::ROOT, self, self.encodes_names())
                    }

                    /// Reads the document. Elements that it does not know are skipped.
                    ///
                    /// # Errors
                    /// Returns an error if `xml` is not this document, or if something in it is missing, there twice,
                    /// or no value of its kind.
                    pub fn from_xml(xml: &[u8]) -> Result<Self, $crate::xml::XmlError> {
                        $crate::xml::element::from_xml(Self::ROOT, xml, Self::encodes_names)
                    }

                    fn encodes_names(&self) -> bool {
                        false $(|| self.$encoding == Some($crate::xml::EncodingType::Url))?
                    }
                }
            )?
        )*
    };
}

pub(super) use elements;

/// The form of a field.
macro_rules! form {
    () => {
        Plain
    };
    ($form:ident) => {
        $form
    };
}

pub(super) use form;
