//! The object whose ETag a file should have, and how it was cut, as far as the service tells.

use super::connection::{Connection, ConnectionArguments};
use super::sides::Address;
use manyhash_s3::etag::{ETag, ETagKind};
use manyhash_s3_client::http::ConfigError;
use manyhash_s3_client::local::Cut;
use manyhash_s3_client::remote::{Encryption, HeadRequest, Remote, RemoteError};
use std::ffi::OsStr;
use std::io;

/// An ETag, or the object that has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Like {
    ETag(ETag),
    Object(Address),
}

/// An ETag, and the cut that the service tells, which is to be tried first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sought {
    pub(super) etag: ETag,
    pub(super) cut: Option<Cut>,
}

/// Why an object says nothing of a file.
#[derive(Debug, thiserror::Error)]
pub(super) enum LikeError {
    #[error("{0}")]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Remote(#[from] RemoteError),
    #[error(
        "no ETag that is made of MD5s, as of objects that are encrypted with a key of KMS or the customer; use `manyhash s3 verify`"
    )]
    Opaque,
    #[error("{0}")]
    Runtime(#[from] io::Error),
}

impl Like {
    /// What is told on the command line.
    pub(super) fn parse(text: &str) -> Result<Like, String> {
        if let Some(address) = Address::parse(OsStr::new(text)) {
            let address = address.map_err(|error| error.to_string())?;
            return if address.prefix.is_empty() {
                Err("expected s3://BUCKET/KEY".to_owned())
            } else {
                Ok(Like::Object(address))
            };
        }
        let etag = ETag::parse(text);
        match etag.kind() {
            ETagKind::Md5(_) | ETagKind::Multipart { .. } => Ok(Like::ETag(etag)),
            _ => {
                Err("expected s3://BUCKET/KEY, or 32 hexadecimal digits, and for parts a dash and their number".into())
            }
        }
    }

    /// Asks the service, if there is an object.
    pub(super) fn sought(&self, connection: &ConnectionArguments) -> Result<Sought, LikeError> {
        match self {
            Like::ETag(etag) => Ok(Sought { etag: etag.clone(), cut: None }),
            Like::Object(address) => {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                let sought = runtime.block_on(ask(connection, address));
                runtime.shutdown_background();
                sought
            }
        }
    }
}

async fn ask(arguments: &ConnectionArguments, address: &Address) -> Result<Sought, LikeError> {
    let connection = Connection::default();
    let client = arguments.bucket(&connection, &address.bucket).await?;
    let head = client.head(&address.prefix, HeadRequest::default()).await?;
    let is_md5 = matches!(head.encryption, None | Some(Encryption::S3));
    let etag = head.etag.filter(|etag| is_md5 && etag.kind() != ETagKind::Opaque).ok_or(LikeError::Opaque)?;
    let cut = match etag.kind() {
        ETagKind::Multipart { .. } => {
            let part = HeadRequest { part_number: Some(1), checksums: false };
            // Not every service knows of parts, and a guess does without.
            let part = client.head(&address.prefix, part).await.ok();
            part.filter(|part| part.etag.as_ref() == Some(&etag)).and_then(|part| Cut::every(part.content_length))
        }
        _ => None,
    };
    Ok(Sought { etag, cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_can_be_like() {
        let object = |text: &str| match Like::parse(text) {
            Ok(Like::Object(Address { bucket, prefix })) => format!("{bucket} {prefix}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(object("s3://b/k/l"), "b k/l");
        for text in ["s3://", "s3://b", "s3://b/", "s3:///k", "", "c4ca", "c4ca4238a0b923820dcc509a6f75849b-0"] {
            assert!(Like::parse(text).is_err(), "{text}");
        }
        let etag = "\"c4ca4238a0b923820dcc509a6f75849b-2\"";
        assert_eq!(Like::parse(etag), Ok(Like::ETag(ETag::parse(etag))));
    }
}
