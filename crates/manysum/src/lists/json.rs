//! What is known of a file as JSON, an object a line.

use super::{Entry, digest};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use manyhash::{Digest, HashFunction};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;

/// An object that is written.
#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    algorithm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The name of a file.
#[derive(Serialize)]
pub struct Name<'a> {
    /// With U+FFFD in place of what is not UTF-8.
    name: Cow<'a, str>,
    /// The bytes of one that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
}

impl<'a> Name<'a> {
    /// The name of these bytes.
    pub fn of(bytes: &'a [u8]) -> Self {
        let name_hex = str::from_utf8(bytes).is_err().then(|| HEXLOWER.encode(bytes));
        Name { name: String::from_utf8_lossy(bytes), name_hex }
    }
}

/// An object that is read; what else it has is passed over.
#[derive(Deserialize)]
struct Listed {
    name: String,
    name_hex: Option<String>,
    size: Option<u64>,
    algorithm: String,
    digest: Option<String>,
    /// Why there is no digest.
    error: Option<String>,
}

/// What says what a list without files is of, in which no other object does.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFiles {
    /// Always 0.
    files: u64,
    algorithms: Vec<String>,
}

/// The line of a list without files, whose digests would be of these functions.
///
/// # Errors
/// As [`line`].
pub(super) fn no_files(functions: &[HashFunction]) -> io::Result<Vec<u8>> {
    let algorithms = functions.iter().map(HashFunction::to_string).collect();
    let mut line = serde_json::to_vec(&NoFiles { files: 0, algorithms })?;
    line.push(b'\n');
    Ok(line)
}

/// The functions that a line without files is of, if it is one.
pub(super) fn functions_without_files(line: &[u8]) -> Option<Vec<HashFunction>> {
    let NoFiles { files: 0, algorithms } = serde_json::from_slice(line).ok()? else { return None };
    algorithms.iter().map(|name| name.parse().ok()).collect()
}

/// The line of a file: its digest, or why it has none; and if it was checked, what came of that.
///
/// # Errors
/// If it cannot be written as JSON, which there is no cause for in what it holds.
pub fn line(
    name: &[u8],
    function: HashFunction,
    status: Option<&'static str>,
    digest: Result<&Digest, &str>,
) -> io::Result<Vec<u8>> {
    write(name, None, function, status, digest)
}

/// The lines of a file, one for each digest.
pub(super) fn lines(name: &[u8], size: Option<u64>, digests: &[(HashFunction, Digest)]) -> io::Result<Vec<u8>> {
    let line = |(function, digest): &(HashFunction, Digest)| write(name, size, *function, None, Ok(digest));
    Ok(digests.iter().map(line).collect::<io::Result<Vec<_>>>()?.concat())
}

fn write(
    name: &[u8],
    size: Option<u64>,
    function: HashFunction,
    status: Option<&'static str>,
    digest: Result<&Digest, &str>,
) -> io::Result<Vec<u8>> {
    let record = Record {
        name: Name::of(name),
        size,
        algorithm: function.to_string(),
        status,
        digest: digest.ok().map(|digest| digest.to_hex()),
        error: digest.err(),
    };
    let mut line = serde_json::to_vec(&record)?;
    line.push(b'\n');
    Ok(line)
}

/// Whether a line is an object, if it is anything.
pub(super) fn is_object(line: &[u8]) -> bool {
    line.starts_with(b"{")
}

/// What a line says, if it is on a digest: an entry, or nothing if it is improperly formatted. A file that could not be
/// read has none.
pub(super) fn read(line: &[u8]) -> Option<Option<Entry>> {
    match serde_json::from_slice(line) {
        Ok(Listed { digest: None, error: Some(_), .. }) => None,
        Ok(listed) => Some(entry(listed)),
        Err(_) if functions_without_files(line).is_some() => None,
        Err(_) => Some(None),
    }
}

fn entry(Listed { name, name_hex, size, algorithm, digest: hex, .. }: Listed) -> Option<Entry> {
    let name = match name_hex {
        Some(hex) => HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok()?,
        None => name.into_bytes(),
    };
    let function = algorithm.parse().ok()?;
    let digest = digest(function, hex?.as_bytes())?;
    let is_name = !name.is_empty() && !name.contains(&0);
    is_name.then(|| Entry { name, size, digests: vec![(function, digest)] })
}

#[cfg(test)]
mod tests {
    use super::{functions_without_files, no_files, read};
    use manyhash::{Algorithm, HashFunction};

    #[test]
    fn objects() {
        let name = |name: &str| {
            let line =
                format!(r#"{{{name}, "algorithm": "CRC32", "digest": "352441C2", "status": "ok", "more": [{{}}]}}"#);
            read(line.as_bytes()).expect("an object on a digest").map(|entry| entry.name)
        };
        assert_eq!(name(r#""name": "a\nb""#).as_deref(), Some(&b"a\nb"[..]));
        assert_eq!(name(r#""name": "\ufffd", "name_hex": "78FF", "size": 3"#).as_deref(), Some(&b"x\xff"[..]));
        for wrong in [
            r#""no": "name""#,
            r#""name": """#,
            r#""name": "a\u0000""#,
            r#""name": "a", "name_hex": "7""#,
            r#""name": "a", "name_hex": "00""#,
            r#""name": "a", "size": -1"#,
            r#""name": "a", "digest": "352441C2""#,
        ] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
        for line in ["{", r#"{"name": "a", "algorithm": "crc32"}"#, r#"{"files": 1, "algorithms": []}"#] {
            assert_eq!(read(line.as_bytes()), Some(None));
        }
        assert_eq!(read(br#"{"name": "a", "algorithm": "crc32", "error": "Permission denied"}"#), None);
    }

    #[test]
    fn a_list_without_files() {
        let functions = [Algorithm::Md5.into(), HashFunction::Blake3];
        let line = no_files(&functions).expect("a line");
        assert_eq!(line, b"{\"files\":0,\"algorithms\":[\"md5\",\"blake3\"]}\n");
        assert_eq!((functions_without_files(&line), read(&line)), (Some(functions.to_vec()), None));
    }
}
