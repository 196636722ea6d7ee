//! What the headers of answers say.

use super::write::Written;
use crate::remote::{Encryption, Head, parse_content_range};
use http::HeaderMap;
use manyhash_s3::checksum::{ChecksumAlgorithm, ObjectChecksum};
use manyhash_s3::etag::ETag;
use manyhash_s3::time::parse_http_date;
use std::ops::Range;

/// A header's value. Metadata can have bytes that are no text.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

fn number<N: std::str::FromStr>(headers: &HeaderMap, name: &str) -> Result<Option<N>, String> {
    let read = |value: String| value.parse().map_err(|_| format!("has `{value}` for a number in {name}"));
    text(headers, name).map(read).transpose()
}

/// Reads the answer to HeadObject.
pub(super) fn head(headers: &HeaderMap, is_part: bool) -> Result<Head, String> {
    let content_length = number(headers, "content-length")?.ok_or("has no content-length")?;
    let total = content_range(headers).and_then(|(_, total)| total);
    let size = if is_part { total } else { Some(content_length) };
    let metadata = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix("x-amz-meta-")?;
        Some((name.to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
    });
    Ok(Head {
        content_length,
        size,
        etag: text(headers, "etag").map(|etag| ETag::parse(&etag)),
        parts_count: number(headers, "x-amz-mp-parts-count")?,
        checksums: checksums(headers)?,
        checksum_type: text(headers, "x-amz-checksum-type").and_then(|kind| kind.parse().ok()),
        encryption: encryption(headers),
        metadata: metadata.collect(),
        modified: text(headers, "last-modified").and_then(|date| parse_http_date(&date).ok()),
        version: text(headers, "x-amz-version-id"),
        storage_class: text(headers, "x-amz-storage-class"),
    })
}

/// Reads the answer to PutObject or UploadPart.
pub(super) fn written(headers: &HeaderMap) -> Result<Written, String> {
    Ok(Written {
        etag: text(headers, "etag").map(|etag| ETag::parse(&etag)),
        checksums: checksums(headers)?,
        checksum_type: text(headers, "x-amz-checksum-type").and_then(|kind| kind.parse().ok()),
        encryption: encryption(headers),
        version: text(headers, "x-amz-version-id"),
    })
}

fn checksums(headers: &HeaderMap) -> Result<Vec<ObjectChecksum>, String> {
    let read = |algorithm: ChecksumAlgorithm| {
        let checksum = ObjectChecksum::parse(algorithm, &text(headers, algorithm.header())?);
        Some(checksum.map_err(|error| format!("has a checksum of no use in {}: {error}", algorithm.header())))
    };
    ChecksumAlgorithm::ALL.into_iter().filter_map(read).collect()
}

fn encryption(headers: &HeaderMap) -> Option<Encryption> {
    if headers.contains_key("x-amz-server-side-encryption-customer-algorithm") {
        return Some(Encryption::Customer);
    }
    text(headers, "x-amz-server-side-encryption").map(|name| Encryption::of_name(&name))
}

/// Reads `Content-Range`.
pub(super) fn content_range(headers: &HeaderMap) -> Option<(Range<u64>, Option<u64>)> {
    parse_content_range(&text(headers, "content-range")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;
    use manyhash_s3::checksum::ChecksumType;

    fn map(headers: &[(&str, &[u8])]) -> HeaderMap {
        let entry = |(name, value): &(&str, &[u8])| {
            (name.parse::<HeaderName>().unwrap(), http::HeaderValue::from_bytes(value).unwrap())
        };
        headers.iter().map(entry).collect()
    }

    #[test]
    fn heads() {
        let headers = map(&[
            ("content-length", b"10"),
            ("etag", b"\"ab-3\""),
            ("x-amz-checksum-crc32", b"DUoRhQ==-3"),
            ("x-amz-checksum-type", b"COMPOSITE"),
            ("x-amz-server-side-encryption", b"aws:kms"),
            ("x-amz-meta-a", b"b c"),
            ("x-amz-meta-raw", b"\xff"),
            ("last-modified", b"Sun, 06 Nov 1994 08:49:37 GMT"),
            ("x-amz-version-id", b"v"),
            ("x-amz-storage-class", b"GLACIER"),
            ("content-range", b"bytes 0-9/25"),
            ("x-amz-mp-parts-count", b"3"),
        ]);
        let part = head(&headers, true).unwrap();
        assert_eq!((part.content_length, part.size, part.parts_count), (10, Some(25), Some(3)));
        assert_eq!(part.etag, Some(ETag::new("ab-3")));
        assert_eq!(part.checksums[0].to_string(), "DUoRhQ==-3");
        assert_eq!((part.checksum_type, part.encryption), (Some(ChecksumType::Composite), Some(Encryption::Kms)));
        assert_eq!(part.metadata, [("a".to_owned(), "b c".to_owned()), ("raw".to_owned(), "\u{fffd}".to_owned())]);
        assert_eq!(part.modified.unwrap().to_string(), "1994-11-06T08:49:37Z");
        assert_eq!((part.version.as_deref(), part.storage_class.as_deref()), (Some("v"), Some("GLACIER")));
        assert_eq!(head(&headers, false).unwrap().size, Some(10));

        let customer = map(&[
            ("content-length", b"1"),
            ("x-amz-server-side-encryption", b"AES256"),
            ("x-amz-server-side-encryption-customer-algorithm", b"AES256"),
        ]);
        assert_eq!(head(&customer, true).unwrap().encryption, Some(Encryption::Customer));
        assert_eq!(head(&customer, true).unwrap().size, None);
    }

    #[test]
    fn what_is_of_no_use_is_named() {
        for (headers, words) in [
            (map(&[]), "no content-length"),
            (map(&[("content-length", b"x")]), "`x` for a number in content-length"),
            (map(&[("content-length", b"1"), ("x-amz-checksum-sha1", b"AAAA")]), "x-amz-checksum-sha1"),
            (map(&[("content-length", b"1"), ("x-amz-mp-parts-count", b"-1")]), "x-amz-mp-parts-count"),
        ] {
            let error = head(&headers, false).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn ranges() {
        let read = |value: &'static str| content_range(&map(&[("content-range", value.as_bytes())]));
        assert_eq!(read("bytes 0-0/1"), Some((0..1, Some(1))));
        assert_eq!(read("bytes 5-9/*"), Some((5..10, None)));
        for value in ["", "bytes */10", "bytes 9-5/10", "bytes 1-/10", "lines 1-2/3", "bytes 0-18446744073709551615/*"]
        {
            assert_eq!(read(value), None, "{value}");
        }
    }
}
