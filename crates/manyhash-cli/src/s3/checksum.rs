//! `manyhash s3 checksum`: the checksums that objects with the bytes of files have.

use super::files::{FileArguments, Upload, part_size};
use crate::size;
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3_client::local::{Cut, Wanted};
use manysum::console::Console;
use manysum::lists::json::Name;
use manysum::lists::style::Style;
use manysum::name;
use serde::Serialize;
use std::ffi::OsStr;
use std::io;
use std::num::NonZeroU64;

/// Print the checksums that S3 has for files.
///
/// The checksum of an object in parts is either a composite, which depends on the size of the parts, or that of the full
/// object, which S3 makes with CRCs only. By default, it is as if the file were uploaded by aws-cli: those of less than
/// 8 MiB at once, others in parts of 8 MiB, or of 16 MiB, 32 MiB and so on where there would be more than 10,000; with
/// CRC64NVME for the full object, and with the others as a composite. With --part-size, files of less than SIZE are
/// uploaded at once, and others in parts of SIZE. However much is asked for, each file is read once.
///
/// Checksums are in base64, and a composite ends in a dash and the number of parts. With several algorithms, lines are as
/// in CRC32 (FILE) = CHECKSUM.
///
/// A SIZE is a number of bytes: 8388608, 8M or 8MiB (of 1024), 8MB (of 1000), and so on for K, G, T, P and E.
///
/// The exit status is 0, or 1 if a file could not be read.
#[derive(clap::Args)]
pub(super) struct ChecksumArguments {
    #[arg(
        short = 'a',
        long = "algorithm",
        value_name = "ALGORITHM",
        value_delimiter = ',',
        default_value = "CRC64NVME",
        help = help()
    )]
    checksums: Vec<ChecksumAlgorithm>,

    /// Bytes in a part
    #[arg(long, value_name = "SIZE", value_parser = size::some)]
    part_size: Option<u64>,

    /// Print composites, also of files that would be uploaded at once: then of one part
    #[arg(long, conflicts_with = "full_object")]
    composite: bool,

    /// Print checksums of the full object, with any algorithm
    #[arg(long, conflicts_with = "part_size")]
    full_object: bool,

    #[command(flatten)]
    files: FileArguments,
}

fn help() -> String {
    let names: Vec<_> = ChecksumAlgorithm::ALL.into_iter().map(ChecksumAlgorithm::name).collect();
    format!("Algorithms, separated by commas: {}", names.join(", "))
}

impl ChecksumArguments {
    /// How a file of so many bytes is cut, and what its checksum covers.
    fn form(&self, algorithm: ChecksumAlgorithm, size: u64) -> (Cut, ChecksumType) {
        let upload = Upload { part_size: self.part_size };
        if self.full_object {
            return (Cut::Whole, ChecksumType::FullObject);
        }
        if self.composite {
            let part_bytes = self.part_size.and_then(NonZeroU64::new);
            return (Cut::of_parts(size, part_bytes), ChecksumType::Composite);
        }
        match (upload.cut(size), algorithm.default_type()) {
            (Cut::Whole, _) | (_, ChecksumType::FullObject) => (Cut::Whole, ChecksumType::FullObject),
            (cut, kind) => (cut, kind),
        }
    }

    fn wanted(&self, size: Option<u64>) -> Wanted {
        let mut wanted = Wanted::new();
        for algorithm in &self.checksums {
            // Sizes of both kinds of cuts, if the size is not known.
            let sizes =
                size.map_or(vec![0, Cut::DEFAULT_PART_BYTES.max(self.part_size.unwrap_or(0))], |size| vec![size]);
            for size in sizes {
                wanted.checksum(self.form(*algorithm, size).0, *algorithm);
            }
        }
        wanted
    }
}

/// Runs it; whether all went well.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &ChecksumArguments) -> io::Result<bool> {
    let ChecksumArguments { checksums, composite, files, .. } = arguments;
    if let Some(algorithm) = checksums.iter().find(|algorithm| *composite && !algorithm.allows(ChecksumType::Composite))
    {
        console.message(format!("--composite: there are no composites of {algorithm}; leave out one of the two"));
        return Ok(false);
    }
    let wanted = |size| arguments.wanted(size);
    files.digest(console, wanted, |file, digested| {
        let size = digested.size();
        let mut lines = Vec::new();
        for algorithm in checksums {
            let (cut, kind) = arguments.form(*algorithm, size);
            let Some(checksum) = digested.checksum(&cut, *algorithm, kind) else { return Ok(None) };
            let result = Computed { algorithm: *algorithm, kind, checksum: checksum.to_string(), cut: &cut };
            lines.extend(result.line(arguments, file, size)?);
        }
        Ok(Some(lines))
    })
}

struct Computed<'a> {
    algorithm: ChecksumAlgorithm,
    kind: ChecksumType,
    checksum: String,
    cut: &'a Cut,
}

impl Computed<'_> {
    fn line(&self, arguments: &ChecksumArguments, file: &OsStr, size: u64) -> io::Result<Vec<u8>> {
        #[derive(Serialize)]
        struct Object<'a> {
            #[serde(flatten)]
            name: Name<'a>,
            size: u64,
            algorithm: ChecksumAlgorithm,
            #[serde(rename = "type")]
            kind: ChecksumType,
            checksum: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            part_size: Option<u64>,
        }
        let Computed { algorithm, kind, checksum, cut } = self;
        let name = name::bytes(file);
        if !arguments.files.json {
            let tag = (arguments.checksums.len() > 1).then_some(algorithm.name());
            return Ok(Style { tag, binary: false, zero: false }.line(name, checksum));
        }
        let object = Object {
            name: Name::of(name),
            size,
            algorithm: *algorithm,
            kind: *kind,
            checksum,
            part_size: part_size(cut),
        };
        let mut line = serde_json::to_vec(&object)?;
        line.push(b'\n');
        Ok(line)
    }
}
