//! `manyhash s3 upload`: files to objects, with proof that they arrived.

mod jobs;
mod manifest;
mod options;

pub(super) use options::UploadOptions;

use super::connection::Connection;
use super::transfer::{AT_ONCE, Record, Results, Shown, refuse};
use futures_util::stream::{self, StreamExt};
use jobs::{Job, Jobs, Origin};
use manifest::Manifest;
use manyhash::Algorithm;
use manyhash_s3_client::local;
use manyhash_s3_client::transfer::{Error, Uploaded, Uploader};
use manysum::console::Console;
use manysum::standard;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::pin;

/// Upload files, and make sure that the service has what was read.
///
/// A directory's files come below PREFIX under their names below it, other files under the last part of their paths. A
/// single file can be given a key of its own, s3://BUCKET/KEY, and standard input (-) must be. Symbolic links in a
/// directory are not followed.
///
/// Each file is read once, for all that is computed of it. Files of less than 8 MiB are uploaded at once, and others in
/// parts of 8 MiB, or of 16 MiB, 32 MiB and so on where there would be more than 10,000. Every request has a checksum of
/// what it carries, which the service compares before it keeps anything, and the ETags and checksums in its answers must
/// be those that were computed here. Where an answer does not tell all of them, HeadObject is asked. A file that changes
/// while it is read is not published.
///
/// An upload in parts that was interrupted, even by kill -9, goes on when the same command is given again: the service
/// lists the parts that it has, and those that are the same as the file's are not sent again. Until then, or until the
/// bucket's lifecycle rules remove them, they stay at the service. This needs the rights s3:ListBucketMultipartUploads
/// and s3:ListMultipartUploadParts; without them, all is sent.
///
/// With --manifest, when all is uploaded, HeadObject is asked for each object's ETag and checksum again. What is as it
/// should be is written to FILE, in lines that `manysum --check` and `manyhash manifest` read in the directory, and
/// `manyhash s3 verify FILE s3://BUCKET/PREFIX` in the bucket.
///
/// --checksum auto is CRC64NVME, and Content-MD5 for a service that refuses checksums or if request_checksum_calculation
/// is when_required. It is one of the whole object also where that is in parts, as are CRC32 and CRC32C; of other
/// algorithms, it is the composite of the parts'. --checksum none is Content-MD5.
///
/// A SIZE is a number of bytes: 8388608, 8M or 8MiB (of 1024), 8MB (of 1000), and so on for K and G.
///
/// The exit status is 0, or 1 if anything was not uploaded or not found to be right.
#[derive(clap::Args)]
pub(super) struct UploadArguments {
    /// Files and directories; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,

    /// s3://BUCKET/PREFIX/, or s3://BUCKET/KEY for a single file
    #[arg(value_name = "URL")]
    address: OsString,

    /// Fail for keys that there is an object of already, unless it has the same bytes
    #[arg(long)]
    if_none_match: bool,

    /// Write a list of what was uploaded to FILE, and ask for each object again before
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// Algorithm of the list's digests
    #[arg(short, long, value_name = "ALGORITHM", default_value = "sha256", requires = "manifest")]
    algorithm: Algorithm,

    #[command(flatten)]
    options: UploadOptions,
}

/// Runs it; whether all went well.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &UploadArguments) -> io::Result<bool> {
    let jobs = match Jobs::plan(&arguments.files, &arguments.address) {
        Ok(jobs) => jobs,
        Err((about, why)) => return Ok(refuse(console, &about, &why)),
    };
    let manifest = match &arguments.manifest {
        None => None,
        Some(path) => match Manifest::new(path, arguments.algorithm) {
            Ok(manifest) => Some(manifest),
            Err(why) => return Ok(refuse(console, path.as_os_str(), &why)),
        },
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let well = runtime.block_on(upload(console, arguments, jobs, manifest));
    // What still waits for the service waits for nothing.
    runtime.shutdown_background();
    well
}

async fn upload(
    console: &mut Console,
    arguments: &UploadArguments,
    jobs: Jobs,
    manifest: Option<Manifest>,
) -> io::Result<bool> {
    let connection = Connection::default();
    let options = &arguments.options;
    let client = match options.connection.bucket(&connection, &jobs.bucket).await {
        Ok(client) => client,
        Err(error) => return Ok(refuse(console, &arguments.address, &error.to_string())),
    };
    let shown = Shown::new(options.saying.progress);
    console.share_with(shown.bar());
    let mut settings = options.settings(shown.counter());
    settings.prefix = jobs.prefix;
    settings.if_none_match = arguments.if_none_match;
    settings.digest = manifest.as_ref().map(|_| arguments.algorithm);
    let uploader = match Uploader::new((*client).clone(), settings) {
        Ok(uploader) => uploader,
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    };
    let mut results = Results::new(options.saying.json, &["uploaded", "same"]);
    for (name, error) in jobs.unreadable {
        results.failed(console, &name, &manysum::console::reason(&error))?;
    }
    jobs.jobs.iter().for_each(|job| shown.more(job.size.unwrap_or(0)));
    let mut done = Vec::new();
    {
        let started = stream::iter(jobs.jobs).map(|job| start(&uploader, job));
        let mut uploads = pin!(started.buffer_unordered(AT_ONCE));
        while let Some((job, uploaded)) = uploads.next().await {
            shown.done(&job.shown);
            match uploaded {
                // Said when it was looked at again.
                Ok(uploaded) if manifest.is_some() => done.push((job, uploaded)),
                Ok(uploaded) => results.well(console, Record::uploaded(&job.shown, &uploaded))?,
                Err(error) => results.failed(console, &job.shown, &reason(&error))?,
            }
        }
    }
    if let Some(mut manifest) = manifest {
        let uploader = &uploader;
        let checks = stream::iter(done).map(|(job, uploaded)| async move {
            let checked = uploader.check(&uploaded).await;
            (job, uploaded, checked)
        });
        let mut checks = pin!(checks.buffer_unordered(AT_ONCE));
        while let Some((job, uploaded, checked)) = checks.next().await {
            let listed = match checked {
                Ok(()) => manifest.add(&job.name, &uploaded),
                Err(error) => Err(reason(&error)),
            };
            match listed {
                Ok(()) => results.well(console, Record::uploaded(&job.shown, &uploaded))?,
                Err(why) => results.failed(console, &job.shown, &why)?,
            }
        }
        if let Err((path, error)) = manifest.write() {
            console.file_error(manysum::name::bytes(path.as_os_str()), &error);
            results.fail();
        }
    }
    drop(shown);
    results.finish(console, &client)
}

/// Uploads a file in a task of its own.
async fn start(uploader: &Uploader, job: Job) -> (Job, Result<Uploaded, Error>) {
    let (uploader, key, origin) = (uploader.clone(), job.key.clone(), job.origin.clone());
    let uploaded = tokio::spawn(async move {
        match origin {
            Origin::File(path) => uploader.file(path, &key).await,
            Origin::StandardInput => uploader.reader(standard::input().map_err(read)?, &key).await,
        }
    });
    let uploaded = uploaded.await.unwrap_or_else(|error| Err(read(io::Error::other(error))));
    (job, uploaded)
}

fn read(error: io::Error) -> Error {
    local::Error::from(error).into()
}

/// Why a transfer failed, in the system's words if they are those.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::Local(local::Error::Read(error)) | Error::Write(error) => manysum::console::reason(error),
        error => error.to_string(),
    }
}
