//! `manyhash s3 ls`: the objects of a bucket, and what S3 knows of their bytes.

use super::connection::{Connection, ConnectionArguments};
use super::sides::Address;
use futures_util::stream::{self, StreamExt};
use manyhash_s3_client::http::Client;
use manyhash_s3_client::remote::{Encryption, Head, HeadRequest, Listed, Remote, RemoteError};
use manysum::console::Console;
use manysum::escape;
use manysum::lists::json::Name;
use manysum::name;
use serde::Serialize;
use std::ffi::OsString;
use std::io;

/// Objects that are asked for at a time.
const AT_ONCE: usize = 256;

/// List the objects whose keys begin with PREFIX: bytes, ETag and key.
///
/// With --checksums, each object is asked for what S3 knows of its bytes, one HeadObject each, and a line also has the
/// checksum, after its algorithm, and with a dash and the number of parts if it is a composite. What is not known is
/// shown as a dash. Keys with a newline, a carriage return or a backslash are escaped, and their lines begin with a
/// backslash.
///
/// The exit status is 0, or 1 if anything could not be listed or asked for.
#[derive(clap::Args)]
pub(super) struct LsArguments {
    /// s3://BUCKET/PREFIX
    #[arg(value_name = "URL")]
    address: OsString,

    /// Ask for the checksum of each object
    #[arg(long = "checksums")]
    asks_checksums: bool,

    /// Print a JSON object for each object, one per line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    connection: ConnectionArguments,
}

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_class: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checksum_algorithms: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checksums: Vec<Checksum>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encryption: Option<&'static str>,
}

#[derive(Serialize)]
struct Checksum {
    algorithm: &'static str,
    value: String,
}

/// Runs it; whether all went well.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &LsArguments) -> io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let well = runtime.block_on(list(console, arguments));
    runtime.shutdown_background();
    well
}

async fn list(console: &mut Console, arguments: &LsArguments) -> io::Result<bool> {
    let address = match Address::parse(&arguments.address) {
        Some(Ok(address)) => address,
        Some(Err(error)) => return Ok(fail(console, arguments, &error.to_string())),
        None => return Ok(fail(console, arguments, "expected s3://BUCKET or s3://BUCKET/PREFIX")),
    };
    let connection = Connection::default();
    let client = match arguments.connection.bucket(&connection, &address.bucket).await {
        Ok(client) => client,
        Err(error) => return Ok(fail(console, arguments, &error.to_string())),
    };
    let (mut continuation, mut well) = (None::<String>, true);
    loop {
        let page = match client.list(&address.prefix, continuation.as_deref()).await {
            Ok(page) => page,
            Err(error) => return Ok(fail(console, arguments, &error.to_string())),
        };
        let client = &*client;
        let looked_at = stream::iter(page.objects).map(|listed| look(client, listed, arguments.asks_checksums));
        let mut looked_at = looked_at.buffered(AT_ONCE);
        while let Some((listed, head)) = looked_at.next().await {
            match head.transpose() {
                Ok(head) => console.line(&line(&listed, head.as_ref(), arguments)?)?,
                Err(error) => {
                    well = false;
                    console.about(listed.key.as_bytes(), &error.to_string());
                }
            }
        }
        if page.continuation.is_none() || page.continuation == continuation {
            return Ok(well);
        }
        continuation = page.continuation;
    }
}

fn fail(console: &mut Console, arguments: &LsArguments, why: &str) -> bool {
    console.about(name::bytes(&arguments.address), why);
    false
}

/// What S3 knows of an object besides what is listed, if that is asked for.
async fn look(client: &Client, listed: Listed, checksums: bool) -> (Listed, Option<Result<Head, RemoteError>>) {
    if !checksums {
        return (listed, None);
    }
    let head = client.head(&listed.key, HeadRequest { part_number: None, checksums: true }).await;
    (listed, Some(head))
}

fn line(listed: &Listed, head: Option<&Head>, arguments: &LsArguments) -> io::Result<Vec<u8>> {
    let checksums: Vec<Checksum> = head
        .iter()
        .flat_map(|head| &head.checksums)
        .map(|checksum| Checksum { algorithm: checksum.checksum.algorithm().name(), value: checksum.to_string() })
        .collect();
    if !arguments.json {
        let known = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let etag = known(listed.etag.as_ref().map(|etag| etag.as_str().to_owned()));
        let mut text = format!("{:>14}  {etag}  ", listed.size);
        if arguments.asks_checksums {
            let checksum = checksums.first().map(|checksum| format!("{}:{}", checksum.algorithm, checksum.value));
            text.push_str(&known(checksum));
            text.push_str("  ");
        }
        let key = listed.key.as_bytes();
        let mut line = if escape::is_needed(key) { vec![b'\\'] } else { Vec::new() };
        line.extend_from_slice(text.as_bytes());
        if escape::is_needed(key) {
            escape::escape(key, &mut line);
        } else {
            line.extend_from_slice(key);
        }
        line.push(b'\n');
        return Ok(line);
    }
    let encryption = head.and_then(|head| head.encryption).map(|encryption| match encryption {
        Encryption::S3 => "AES256",
        Encryption::Kms => "aws:kms",
        Encryption::DualKms => "aws:kms:dsse",
        Encryption::Customer => "customer",
        _ => "other",
    });
    let record = Record {
        name: Name::of(listed.key.as_bytes()),
        size: listed.size,
        etag: listed.etag.as_ref().map(|etag| etag.as_str()),
        modified: listed.modified.map(|modified| modified.to_string()),
        storage_class: listed.storage_class.as_deref(),
        checksum_algorithms: listed.checksum_algorithms.iter().map(|algorithm| algorithm.name()).collect(),
        checksum_type: listed.checksum_type.map(|kind| kind.name()),
        checksums,
        encryption,
    };
    let mut line = serde_json::to_vec(&record)?;
    line.push(b'\n');
    Ok(line)
}
