//! File names as bytes and back.
//!
//! Lists carry names as bytes. On Unix any bytes are a name; elsewhere names are Unicode, and lists hold them as UTF-8.

use std::ffi::{OsStr, OsString};
use std::io;

/// The bytes that stand for a name in a list.
pub fn bytes(name: &OsStr) -> &[u8] {
    name.as_encoded_bytes()
}

/// The name that these bytes stand for.
///
/// # Errors
/// If no file of this system can have that name.
#[cfg(unix)]
pub fn from_bytes(bytes: Vec<u8>) -> io::Result<OsString> {
    Ok(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

/// The name that these bytes stand for.
///
/// # Errors
/// If no file of this system can have that name.
#[cfg(not(unix))]
pub fn from_bytes(bytes: Vec<u8>) -> io::Result<OsString> {
    let name =
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "name is not valid UTF-8"))?;
    Ok(OsString::from(name))
}
