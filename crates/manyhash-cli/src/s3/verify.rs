//! `manyhash s3 verify`: whether two sides hold the same bytes, found out from what S3 knows.

mod cache;
mod findings;
mod kept;
mod shown;

use super::connection::{Connection, ConnectionArguments, requests};
use super::sides::{Context, Named};
use findings::Findings;
use futures_util::StreamExt;
use kept::Kept;
use manyhash::HashFunction;
use manyhash_s3_client::http::Client;
use manyhash_s3_client::verify::{Estimate, LocalFiles, Settings, Side, State, estimate, verify};
use manysum::cache::{Cache, CacheOptions};
use manysum::console::{Console, reason};
use manysum::name;
use manysum::progress::When;
use shown::Shown;
use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

/// The exit status if something went wrong.
const FAILED: u8 = 1;

/// Prove that two sides hold the same bytes, without downloading them wherever S3 knows a checksum.
///
/// A side is a directory, a bucket or a part of it (s3://BUCKET or s3://BUCKET/PREFIX), a list of digests (all formats
/// are read that manysum --check reads; - is standard input), or an S3 Inventory in CSV or Parquet (its manifest.json,
/// beside the downloaded files). Names are those below the directory, or what follows PREFIX and a slash.
///
/// Print a line for each name that is not the same on both sides: `NAME: differs`, `NAME: missing` (only in A), `NAME:
/// extra` (only in B), or `NAME: unverified` with the reason. Names with a newline, a carriage return or a backslash are
/// escaped, and their lines begin with a backslash.
///
/// For each name, the cheapest check decides that both sides have: sizes, ETags and digests from lists; then what
/// HeadObject or GetObjectAttributes tell of one object, such as its checksum or the size of its parts. A local file is
/// read once for what the other side has; the digest cache is used. Objects whose ETag is no MD5 and which have no
/// checksum are unverified, unless --download compares their bytes. Objects of no bytes whose keys end in a slash stand
/// for directories, and are passed over unless both sides are buckets. Symbolic links in a directory are not followed.
///
/// What S3 tells of an object is believed, and its bytes are not read where that decides, not even with --download. To find
/// bytes that have decayed in the service's store, compare with a list of SHA-256 digests, with --download.
///
/// Checksums of 32 and 64 bits find accidental changes. MD5 and SHA-1 also find changes that somebody makes to an object,
/// but not two objects that somebody made together. --json tells for each name what was compared.
///
/// The exit status is 0 if all is the same. Otherwise it is the sum of what was found: 1 something could not be read, 2
/// differs, 4 missing, 16 extra, 32 unverified.
#[derive(clap::Args)]
pub(super) struct VerifyArguments {
    /// Directory, s3://BUCKET/PREFIX, list of digests, or manifest.json of an S3 Inventory
    #[arg(value_name = "A")]
    one: OsString,

    /// What it is compared with, of the same kinds
    #[arg(value_name = "B")]
    other: OsString,

    /// Download objects that nothing else decides about
    #[arg(long)]
    download: bool,

    /// Do not count what is unverified in the exit status
    #[arg(long)]
    allow_unverified: bool,

    /// Only list both sides, and print how many requests a comparison takes, by their kind
    #[arg(long)]
    dry_run: bool,

    /// Append to FILE what was the same, and pass over what FILE says was, if neither side has changed since
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Algorithm to compare, if a list does not name it or has several
    #[arg(short, long, value_name = "ALGORITHM")]
    algorithm: Option<HashFunction>,

    /// Print a JSON object for each name, one per line, with its status and what was compared
    #[arg(long)]
    json: bool,

    /// Hash on at most N threads; 0 means one per core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    threads: usize,

    /// Show progress on standard error
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    progress: When,

    #[command(flatten)]
    cache: CacheOptions,

    #[command(flatten)]
    connection: ConnectionArguments,
}

/// Runs it; the exit status.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &VerifyArguments) -> io::Result<u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let connection = Connection::default();
    let status = runtime.block_on(async {
        let Some(sides) = sides(console, arguments, &connection).await else { return Ok(FAILED) };
        match arguments.dry_run {
            true => plan(console, arguments, sides).await,
            false => compare(console, arguments, sides, &connection).await,
        }
    });
    // What still waits for the service waits for nothing.
    runtime.shutdown_background();
    status
}

/// Both sides; none if one of them is none, which is said.
async fn sides(
    console: &mut Console,
    arguments: &VerifyArguments,
    connection: &Connection,
) -> Option<[Side<Client>; 2]> {
    let names = [&arguments.one, &arguments.other];
    let mut named = Vec::with_capacity(2);
    for text in names {
        match Named::parse(text) {
            Ok(side) => named.push(side),
            Err(error) => console.about(name::bytes(text), &error.to_string()),
        }
    }
    let [one, other] = <[Named; 2]>::try_from(named).ok()?;
    let context = Context { arguments: &arguments.connection, connection, algorithm: arguments.algorithm };
    let mut sides = Vec::with_capacity(2);
    for (text, (side, beside)) in names.into_iter().zip([(one.clone(), &other), (other.clone(), &one)]) {
        match side.open(console, &context, beside).await {
            Ok(side) => sides.push(side),
            Err(error) => console.about(name::bytes(text), &error.to_string()),
        }
    }
    <[Side<Client>; 2]>::try_from(sides).ok()
}

/// Compares.
async fn compare(
    console: &mut Console,
    arguments: &VerifyArguments,
    sides: [Side<Client>; 2],
    connection: &Connection,
) -> io::Result<u8> {
    let mut kept = match &arguments.state {
        None => None,
        Some(path) => match Kept::open(path, &arguments.title()) {
            Ok(kept) => Some(kept),
            Err(error) => {
                console.about(name::bytes(path.as_os_str()), &error.to_string());
                return Ok(FAILED);
            }
        },
    };
    let cache = match arguments.cache.open(console) {
        Ok(cache) => cache.map(Arc::new),
        Err(error) => {
            console.message(error.to_string());
            return Ok(FAILED);
        }
    };
    let mut files = LocalFiles::new(NonZeroUsize::new(arguments.threads));
    if let Some(cache) = &cache {
        files = files.with_cache(Arc::new(cache::Digests(Arc::downgrade(cache))));
    }
    let mut settings = Settings::default();
    settings.download = arguments.download;
    settings.remembered = kept.as_ref().map(Kept::remembered);
    let shown = Shown::new(arguments.progress);
    console.share_with(shown.bar());
    let mut findings = Findings::new(arguments.json);
    let mut failed = false;
    {
        let mut outcomes = pin!(verify(sides, files, settings));
        while let Some(outcome) = outcomes.next().await {
            match outcome {
                Ok(outcome) => {
                    shown.done(&outcome.name);
                    if let (Some(kept), Some(stamp), State::Same(_)) = (&mut kept, outcome.stamp, &outcome.state)
                        && let Err(error) = kept.push(stamp)
                    {
                        failed |= say_state(console, arguments, &error);
                    }
                    findings.say(console, &outcome)?;
                }
                Err(error) => {
                    console.message(error.to_string());
                    failed = true;
                }
            }
        }
    }
    drop(shown);
    // Nobody else has it by now, unless a file is still read for a comparison that was given up.
    if let Some(Err(error)) = cache.and_then(Arc::into_inner).map(Cache::finish) {
        console.message(error.to_string());
    }
    if let Some(Err(error)) = kept.map(Kept::finish) {
        failed |= say_state(console, arguments, &error);
    }
    console.flush()?;
    if failed {
        console.message("stopped before the end; what follows in the order of names was not compared");
    }
    console.message(findings.summary());
    if let Some(client) = connection.client() {
        console.message(requests(client));
    }
    Ok(findings.status(arguments.allow_unverified) | if failed { FAILED } else { 0 })
}

/// Says why what is kept could not be; always that something failed.
fn say_state(console: &mut Console, arguments: &VerifyArguments, error: &io::Error) -> bool {
    let path = arguments.state.as_ref().map(|path| path.as_os_str().to_owned()).unwrap_or_default();
    console.about(name::bytes(&path), &reason(error));
    true
}

/// Says what a comparison takes.
async fn plan(console: &mut Console, arguments: &VerifyArguments, sides: [Side<Client>; 2]) -> io::Result<u8> {
    let mut settings = Settings::default();
    settings.download = arguments.download;
    if let Some(path) = &arguments.state {
        match Kept::open(path, &arguments.title()) {
            Ok(kept) => settings.remembered = Some(kept.remembered()),
            Err(error) => {
                console.about(name::bytes(path.as_os_str()), &error.to_string());
                return Ok(FAILED);
            }
        }
    }
    let estimate = match estimate(sides, settings).await {
        Ok(estimate) => estimate,
        Err(error) => {
            console.message(error.to_string());
            return Ok(FAILED);
        }
    };
    for line in lines(&estimate, arguments.json)? {
        console.line(&line)?;
    }
    Ok(0)
}

fn lines(estimate: &Estimate, json: bool) -> io::Result<Vec<Vec<u8>>> {
    let rows = [
        ("ListObjectsV2", estimate.lists),
        ("HeadObject", estimate.heads),
        ("GetObjectAttributes", estimate.attributes),
        ("GetObject", estimate.downloads),
        ("downloaded_bytes", estimate.downloaded_bytes),
        ("files", estimate.files),
        ("file_bytes", estimate.file_bytes),
        ("names", estimate.pairs),
        ("names_on_one_side", estimate.alone),
        ("names_decided_by_lists", estimate.free),
        ("names_unverified", estimate.unverified),
    ];
    if !json {
        return Ok(rows.iter().map(|(what, count)| format!("{what}: {count}\n").into_bytes()).collect());
    }
    let object: serde_json::Map<String, serde_json::Value> =
        rows.iter().map(|(what, count)| ((*what).to_owned(), (*count).into())).collect();
    let mut line = serde_json::to_vec(&object)?;
    line.push(b'\n');
    Ok(vec![line])
}

impl VerifyArguments {
    /// What is kept belongs to.
    fn title(&self) -> String {
        format!("{:?} {:?} {}", self.one, self.other, self.connection.service())
    }
}
