//! Buckets by their addresses.

use std::ffi::OsStr;

/// A bucket, and what keys in it begin with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    /// The bucket's name.
    pub bucket: String,
    /// What keys begin with.
    pub prefix: String,
}

/// Why an address is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// There is no bucket in it.
    #[error("the name of a bucket must follow s3://, as in s3://BUCKET/PREFIX")]
    NoBucket,
    /// No key begins with it.
    #[error("keys are UTF-8, which this is not")]
    NotUtf8,
}

impl Address {
    /// Reads `s3://BUCKET/PREFIX`, or returns `None` if `text` does not begin with `s3://`. The case of the scheme is of
    /// no account.
    ///
    /// ```
    /// use manyhash_s3_client::remote::Address;
    ///
    /// let address = Address::parse("s3://bucket/a/b".as_ref()).expect("an address")?;
    /// assert_eq!((&*address.bucket, &*address.prefix), ("bucket", "a/b"));
    /// assert_eq!(Address::parse("bucket/a/b".as_ref()), None);
    /// # Ok::<(), manyhash_s3_client::remote::AddressError>(())
    /// ```
    pub fn parse(text: &OsStr) -> Option<Result<Address, AddressError>> {
        let bytes = text.as_encoded_bytes();
        if !bytes.get(..5)?.eq_ignore_ascii_case(b"s3://") {
            return None;
        }
        let Some(text) = text.to_str().and_then(|text| text.get(5..)) else { return Some(Err(AddressError::NotUtf8)) };
        let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
        if bucket.is_empty() {
            return Some(Err(AddressError::NoBucket));
        }
        Some(Ok(Address { bucket: bucket.to_owned(), prefix: prefix.to_owned() }))
    }

    /// Returns the same as a directory: `s3://bucket/a` is of what is below `a/`, and not of `ab`.
    #[must_use]
    pub fn below(mut self) -> Address {
        if !self.prefix.is_empty() && !self.prefix.ends_with('/') {
            self.prefix.push('/');
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_by_name() {
        let address = |text: &str| {
            let address = Address::parse(OsStr::new(text))?.ok()?.below();
            Some((address.bucket, address.prefix))
        };
        let of = |bucket: &str, prefix: &str| Some((bucket.to_owned(), prefix.to_owned()));
        assert_eq!(address("s3://b"), of("b", ""));
        assert_eq!(address("s3://b/"), of("b", ""));
        assert_eq!(address("S3://b/a"), of("b", "a/"));
        assert_eq!(address("s3://b/a/"), of("b", "a/"));
        assert_eq!(address("s3://b//a"), of("b", "/a/"));
        assert_eq!(address("s3:/b"), None);
        assert_eq!(address("b"), None);
        assert_eq!(Address::parse(OsStr::new("s3:///a")), Some(Err(AddressError::NoBucket)));
    }
}
