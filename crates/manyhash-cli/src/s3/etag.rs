//! `manyhash s3 etag`: the ETags that objects with the bytes of files have.

use super::connection::ConnectionArguments;
use super::files::{FileArguments, Upload, part_size, say};
use super::like::{Like, Sought};
use crate::size;
use manyhash_s3::etag::ETag;
use manyhash_s3_client::local::{Cut, Digested, Error, Wanted};
use manysum::console::Console;
use manysum::lists::json::Name;
use manysum::lists::style::Style;
use manysum::name;
use serde::Serialize;
use std::ffi::OsStr;
use std::io;

/// Print the ETags that S3 has for files.
///
/// The ETag of an object depends on how it was uploaded. By default, it is as if by aws-cli: files of less than 8 MiB at
/// once, others in parts of 8 MiB, or of 16 MiB, 32 MiB and so on where there would be more than 10,000. With
/// --part-size, files of less than SIZE are uploaded at once, and others in parts of SIZE. However many sizes are given,
/// each file is read once.
///
/// With --like, find the size of the parts that gives an ETag. Of an object in a bucket the service is asked for it.
/// Otherwise, those that programs use are tried, 32 in one read of the file. A file that has the ETag with none of them
/// has other bytes or was cut elsewhere, which is an error.
///
/// The ETags of objects that are encrypted with a key of KMS or of the customer, and of those in directory buckets, are
/// not made of MD5s, and cannot be computed.
///
/// A SIZE is a number of bytes: 8388608, 8M or 8MiB (of 1024), 8MB (of 1000), and so on for K, G, T, P and E.
///
/// The exit status is 0, or 1 if a file could not be read or does not have the ETag of --like.
#[derive(clap::Args)]
pub(super) struct EtagArguments {
    /// Bytes in a part; can be repeated, for a line each
    #[arg(long, value_name = "SIZE", value_parser = size::some)]
    part_size: Vec<u64>,

    /// ETag of an object, with or without quotes, or s3://BUCKET/KEY of the object
    #[arg(long, value_name = "ETAG", value_parser = Like::parse, conflicts_with = "part_size")]
    like: Option<Like>,

    #[command(flatten)]
    files: FileArguments,

    #[command(flatten)]
    connection: ConnectionArguments,
}

/// Runs it; whether all went well.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &EtagArguments) -> io::Result<bool> {
    let EtagArguments { part_size: sizes, like, files, connection } = arguments;
    if let Some(like) = like {
        return match like.sought(connection) {
            Ok(sought) => guess(console, files, &sought),
            Err(error) => {
                console.message(format!("--like: {error}"));
                Ok(false)
            }
        };
    }
    let sizes = if sizes.is_empty() { vec![None] } else { sizes.iter().copied().map(Some).collect() };
    let uploads: Vec<_> = sizes.into_iter().map(|part_size| Upload { part_size }).collect();
    let wanted = |size| {
        let mut wanted = Wanted::new();
        for cut in uploads.iter().flat_map(|upload| upload.cuts(size)) {
            wanted.etag(cut);
        }
        wanted
    };
    files.digest(console, wanted, |file, digested| {
        let size = digested.size();
        let line = |upload: &Upload| {
            let cut = upload.cut(size);
            digested.etag(&cut).map(|etag| line(files.json, file, size, &etag, &cut))
        };
        let lines: Option<Vec<_>> = uploads.iter().map(line).collect();
        Ok(match lines {
            Some(lines) => Some(lines.into_iter().collect::<io::Result<Vec<_>>>()?.concat()),
            None => None,
        })
    })
}

/// Finds the cut of each file that has an ETag.
fn guess(console: &mut Console, files: &FileArguments, sought: &Sought) -> io::Result<bool> {
    let etag = &sought.etag;
    let mut well = true;
    for file in files.names() {
        if file == "-" {
            well = false;
            console.message("--like needs files that can be read again; save standard input in one");
            continue;
        }
        match find(files, file, sought) {
            Ok(Some((cut, digested))) => console.line(&line(files.json, file, digested.size(), etag, &cut)?)?,
            Ok(None) => {
                well = false;
                let why = "no part size that was tried gives this ETag: other bytes, or other parts";
                console.about(name::bytes(file), why);
            }
            Err(error) => {
                well = false;
                say(console, file, &error);
            }
        }
    }
    Ok(well)
}

/// The cut of a file that gives the ETag: the one that was told, if it does.
fn find(files: &FileArguments, file: &OsStr, Sought { etag, cut }: &Sought) -> Result<Option<(Cut, Digested)>, Error> {
    if let Some(cut) = cut {
        let mut wanted = Wanted::new();
        wanted.etag(cut.clone());
        match files.reading().digest_one(file, wanted) {
            // A file that is much longer than the object.
            Err(Error::TooManyParts { .. }) => return Ok(None),
            digested => {
                let digested = digested?;
                if digested.etag(cut).is_some_and(|found| found.kind() == etag.kind()) {
                    return Ok(Some((cut.clone(), digested)));
                }
            }
        }
    }
    files.reading().guess(file, etag)
}

/// The line of a file.
fn line(json: bool, file: &OsStr, size: u64, etag: &ETag, cut: &Cut) -> io::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Object<'a> {
        #[serde(flatten)]
        name: Name<'a>,
        size: u64,
        etag: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        part_size: Option<u64>,
    }
    let (name, etag) = (name::bytes(file), etag.as_str());
    if !json {
        return Ok(Style { tag: None, binary: false, zero: false }.line(name, etag));
    }
    let object = Object { name: Name::of(name), size, etag, part_size: part_size(cut) };
    let mut line = serde_json::to_vec(&object)?;
    line.push(b'\n');
    Ok(line)
}
