//! What is known of a file as JSON, an object a line.

use manyhash::{Digest, Function};
use serde::Serialize;
use std::fmt::Write;
use std::io;

#[derive(Serialize)]
struct Record<'a> {
    /// The name, with U+FFFD in place of what is not UTF-8.
    name: &'a str,
    /// The bytes of a name that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    algorithm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The line of a file: its digest, or why it has none; and if it was checked, what came of that.
///
/// # Errors
/// If it cannot be written as JSON, which there is no cause for in what it holds.
pub(crate) fn line(
    name: &[u8],
    function: Function,
    status: Option<&'static str>,
    digest: Result<&Digest, &str>,
) -> io::Result<Vec<u8>> {
    let record = Record {
        name: &String::from_utf8_lossy(name),
        name_hex: str::from_utf8(name).is_err().then(|| hex(name)),
        algorithm: function.to_string(),
        status,
        digest: digest.ok().map(|digest| digest.to_hex().to_string()),
        error: digest.err(),
    };
    let mut line = serde_json::to_vec(&record)?;
    line.push(b'\n');
    Ok(line)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // A string takes all.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
