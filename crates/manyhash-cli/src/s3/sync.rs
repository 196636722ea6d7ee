//! `manyhash s3 sync`: a tree to a bucket, and only what is not proved to be there.

use super::connection::Connection;
use super::sides::Address;
use super::transfer::{AT_ONCE, Record, Results, Shown, refuse};
use super::upload::{UploadOptions, reason};
use futures_util::StreamExt;
use manyhash_s3::limits::MAX_DELETED_KEYS;
use manyhash_s3_client::http::Client;
use manyhash_s3_client::transfer::{Action, Error, Reason, Uploaded, Uploader, actions};
use manyhash_s3_client::verify::LocalFiles;
use manysum::console::Console;
use manysum::escape;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use tokio::task::JoinSet;

/// Upload the files of a directory that a bucket does not have, or has otherwise.
///
/// Names are compared as `manyhash s3 verify` does: by what S3 knows of objects and what is computed of files, never by
/// sizes and times alone. Files are uploaded whose objects are missing, differ, or are unverified, since nothing proves
/// that those are the same. They are uploaded as by `manyhash s3 upload`, and what was interrupted goes on in the same
/// way. Symbolic links in the directory are not followed, so that for this tool there is no file of their name.
///
/// With --delete, objects below PREFIX that there is no file of are deleted at the end; none at all if anything could not
/// be compared or uploaded. Objects of no bytes whose keys end in a slash stand for directories, and stay.
///
/// With --dry-run, print a line for each name: `NAME: upload: REASON` or `NAME: delete`. Names with a newline, a carriage
/// return or a backslash are escaped, and their lines begin with a backslash.
///
/// The exit status is 0, or 1 if anything was not compared, uploaded or deleted.
#[derive(clap::Args)]
pub(super) struct SyncArguments {
    /// Directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// s3://BUCKET/PREFIX
    #[arg(value_name = "URL")]
    address: OsString,

    /// Delete objects that there is no file of
    #[arg(long)]
    delete: bool,

    /// Only print what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    options: UploadOptions,
}

/// Runs it; whether all went well.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &SyncArguments) -> io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let well = runtime.block_on(sync(console, arguments));
    runtime.shutdown_background();
    well
}

/// A file to be uploaded.
struct Job {
    name: String,
    path: PathBuf,
    reason: String,
}

type Uploads = JoinSet<(Job, Result<Uploaded, Error>)>;

/// What is on its way, and what waits.
struct Syncing<'a> {
    arguments: &'a SyncArguments,
    prefix: &'a str,
    uploader: Uploader,
    results: Results,
    shown: Shown,
    waiting: VecDeque<Job>,
    /// Objects that there is no file of: their names.
    extra: Vec<String>,
}

async fn sync(console: &mut Console, arguments: &SyncArguments) -> io::Result<bool> {
    let address = match Address::parse(&arguments.address) {
        Some(Ok(address)) => address.below(),
        Some(Err(error)) => return Ok(refuse(console, &arguments.address, &error.to_string())),
        None => return Ok(refuse(console, &arguments.address, "expected s3://BUCKET/PREFIX after the directory")),
    };
    let (connection, options) = (Connection::default(), &arguments.options);
    let client = match options.connection.bucket(&connection, &address.bucket).await {
        Ok(client) => client,
        Err(error) => return Ok(refuse(console, &arguments.address, &error.to_string())),
    };
    let shown = Shown::new(options.saying.progress);
    console.share_with(shown.bar());
    let mut settings = options.settings(shown.counter());
    settings.prefix.clone_from(&address.prefix);
    let uploader = match Uploader::new((*client).clone(), settings) {
        Ok(uploader) => uploader,
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    };
    let results = Results::new(options.saying.json, &["same", "uploaded"]);
    let (waiting, extra, prefix) = (VecDeque::new(), Vec::new(), &*address.prefix);
    let mut syncing = Syncing { arguments, prefix, uploader, results, shown, waiting, extra };
    {
        let files = LocalFiles::new(None);
        let found = actions(arguments.directory.clone(), client.clone(), address.prefix.clone(), files);
        let mut found = pin!(found.fuse());
        let (mut uploads, mut is_over) = (Uploads::new(), false);
        while !is_over || !uploads.is_empty() {
            // Both at once, so that comparisons do not wait for uploads, nor their answers for being taken.
            tokio::select! {
                next = found.next(), if !is_over => match next {
                    Some(Ok((name, action))) => syncing.take(console, name, action)?,
                    Some(Err(error)) => {
                        console.message(error.to_string());
                        syncing.results.fail();
                    }
                    None => is_over = true,
                },
                Some(done) = uploads.join_next(), if !uploads.is_empty() => match done {
                    Ok((job, uploaded)) => syncing.done(console, job, uploaded)?,
                    Err(error) => {
                        console.message(error.to_string());
                        syncing.results.fail();
                    }
                },
            }
            syncing.start(&mut uploads);
        }
    }
    let Syncing { mut results, shown, extra, .. } = syncing;
    if arguments.delete {
        delete(console, arguments, &mut results, &client, &address.prefix, extra).await?;
    }
    drop(shown);
    results.finish(console, &client)
}

impl Syncing<'_> {
    /// Takes note of what is to be done about a name.
    fn take(&mut self, console: &mut Console, name: Vec<u8>, action: Action) -> io::Result<()> {
        match action {
            Action::Nothing(check) => {
                let record = Record::new(&name, "same").with_reason(check.to_string());
                self.results.well(console, record)
            }
            Action::Upload { path, size, reason } => {
                let reason = words(&reason);
                if self.arguments.dry_run {
                    return self.say(console, &name, "upload", Some(reason), size);
                }
                self.shown.more(size.unwrap_or(0));
                let name = String::from_utf8_lossy(&name).into_owned();
                self.waiting.push_back(Job { name, path, reason });
                Ok(())
            }
            Action::Delete { size } if self.arguments.delete => {
                if self.arguments.dry_run {
                    return self.say(console, &name, "delete", None, size);
                }
                self.extra.push(String::from_utf8_lossy(&name).into_owned());
                Ok(())
            }
            Action::Delete { size } => self.results.well(console, Record::new(&name, "extra").with_size(size)),
            Action::Undecided(why) => self.results.failed(console, &name, &why.to_string()),
            // What there may be later is not known here.
            _ => self.results.failed(console, &name, "cannot tell what is to be done about it"),
        }
    }

    /// Says what would be done.
    fn say(
        &mut self,
        console: &mut Console,
        name: &[u8],
        what: &'static str,
        reason: Option<String>,
        size: Option<u64>,
    ) -> io::Result<()> {
        if !self.arguments.options.saying.json {
            let mut line = Vec::new();
            escape::begin(name, &mut line);
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            line.extend_from_slice(format!(": {what}{reason}").replace(['\n', '\r'], " ").as_bytes());
            line.push(b'\n');
            console.line(&line)?;
        }
        let record = Record::new(name, what).with_size(size);
        self.results.well(
            console,
            match reason {
                Some(reason) => record.with_reason(reason),
                None => record,
            },
        )
    }

    /// Starts what waits, as far as there is room.
    fn start(&mut self, uploads: &mut Uploads) {
        while uploads.len() < AT_ONCE
            && let Some(job) = self.waiting.pop_front()
        {
            let (uploader, key) = (self.uploader.clone(), format!("{}{}", self.prefix, job.name));
            uploads.spawn(async move {
                let uploaded = uploader.file(&job.path, &key).await;
                (job, uploaded)
            });
        }
    }

    fn done(&mut self, console: &mut Console, job: Job, uploaded: Result<Uploaded, Error>) -> io::Result<()> {
        let name = job.name.as_bytes();
        self.shown.done(name);
        match uploaded {
            Ok(uploaded) => self.results.well(console, Record::uploaded(name, &uploaded).with_reason(job.reason)),
            Err(error) => self.results.failed(console, name, &reason(&error)),
        }
    }
}

fn words(reason: &Reason) -> String {
    match reason {
        Reason::Missing => "missing".to_owned(),
        Reason::Differs(difference) => format!("differs: {difference}"),
        Reason::Unverified(why) => format!("unverified: {why}"),
        _ => "other".to_owned(),
    }
}

/// Deletes objects that there is no file of, if it is sure that there is none.
async fn delete(
    console: &mut Console,
    arguments: &SyncArguments,
    results: &mut Results,
    client: &Client,
    prefix: &str,
    extra: Vec<String>,
) -> io::Result<()> {
    if !results.is_well() {
        console.message("nothing was deleted, since not all could be compared and uploaded");
        return Ok(());
    }
    for names in extra.chunks(MAX_DELETED_KEYS) {
        let keys: Vec<String> = names.iter().map(|name| format!("{prefix}{name}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let errors = match client.delete_objects(&keys).await {
            Ok(errors) => errors,
            Err(error) => {
                refuse(console, &arguments.address, &error.to_string());
                results.fail();
                return Ok(());
            }
        };
        for (name, key) in names.iter().zip(keys) {
            match errors.iter().find(|error| error.key == key) {
                None => results.well(console, Record::new(name.as_bytes(), "deleted"))?,
                Some(error) => {
                    results.failed(console, name.as_bytes(), &format!("{}: {}", error.code, error.message))?;
                }
            }
        }
    }
    Ok(())
}
