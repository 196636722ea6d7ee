//! `manyhash s3 download`: objects to files, verified before they have a name.

use super::connection::{Connection, ConnectionArguments};
use super::sides::Address;
use super::transfer::{Record, Results, SayingArguments, Shown, refuse};
use super::upload::reason;
use futures_util::stream::{self, Stream, StreamExt};
use manyhash_s3_client::http::Client;
use manyhash_s3_client::remote::{HeadRequest, Listed, Remote, RemoteError, RemoteErrorKind};
use manyhash_s3_client::transfer::{DownloadSettings, Downloaded, Downloader, Error, Names};
use manysum::console::Console;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

/// Objects that are downloaded at a time, each in up to 16 ranges.
const AT_ONCE: usize = 32;

/// Download an object, or all below a prefix, and make sure that it is what the service says.
///
/// If there is an object s3://BUCKET/KEY, it is downloaded to DEST, or into DEST if that is a directory or ends in a
/// slash. Otherwise all objects whose keys begin with KEY and a slash are downloaded into DEST, under what follows the
/// slash. Objects of no bytes whose keys end in a slash stand for directories, and are passed over.
///
/// Bytes are hashed as they arrive, for the checksum of the whole object, the composite of its parts' checksums, or the
/// ETag; what the sizes of parts are is asked for. A file gets its name when all of it is there and the same. Until then it
/// is a file .manyhash-*.tmp in the same directory, which is removed if anything fails, and stays if the process is
/// killed. An object that the service has nothing to compare with is an error, unless --allow-unverified.
///
/// A file that is there is read; if it is the same, it is left alone, and otherwise it is an error, unless --force.
///
/// A key that has no place below DEST is an error, and the others are downloaded: one with `.` or `..` between slashes,
/// with two slashes in a row, or that would be below a file. Symbolic links below DEST are not followed.
///
/// The exit status is 0, or 1 if anything was not downloaded.
#[derive(clap::Args)]
pub(super) struct DownloadArguments {
    /// s3://BUCKET/KEY or s3://BUCKET/PREFIX/
    #[arg(value_name = "URL")]
    address: OsString,

    /// File, or directory for what is below a prefix
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    /// Replace files that are there
    #[arg(long)]
    force: bool,

    /// Download also objects that cannot be verified
    #[arg(long)]
    allow_unverified: bool,

    #[command(flatten)]
    saying: SayingArguments,

    #[command(flatten)]
    connection: ConnectionArguments,
}

/// Runs it; whether all went well.
///
/// # Errors
/// If standard output fails.
pub(super) fn run(console: &mut Console, arguments: &DownloadArguments) -> io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let well = runtime.block_on(download(console, arguments));
    runtime.shutdown_background();
    well
}

/// An object, and the file that it becomes below the root.
struct Job {
    key: String,
    name: String,
    below: PathBuf,
}

async fn download(console: &mut Console, arguments: &DownloadArguments) -> io::Result<bool> {
    let about = &arguments.address;
    let address = match Address::parse(about) {
        Some(Ok(address)) => address,
        Some(Err(error)) => return Ok(refuse(console, about, &error.to_string())),
        None => return Ok(refuse(console, about, "expected s3://BUCKET/KEY or s3://BUCKET/PREFIX/")),
    };
    let connection = Connection::default();
    let client = match arguments.connection.bucket(&connection, &address.bucket).await {
        Ok(client) => client,
        Err(error) => return Ok(refuse(console, about, &error.to_string())),
    };
    let shown = Shown::new(arguments.saying.progress);
    console.share_with(shown.bar());
    let mut settings = DownloadSettings::default();
    settings.allow_unverified = arguments.allow_unverified;
    settings.replace = arguments.force;
    settings.counter = Some(shown.counter());
    let downloader = match Downloader::new(client.clone(), settings) {
        Ok(downloader) => Arc::new(downloader),
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    };
    let mut results = Results::new(arguments.saying.json, &["downloaded", "same"]);
    match object(&client, &address).await {
        Ok(Some(size)) => {
            shown.more(size);
            match single(&address.prefix, &arguments.destination) {
                Ok((root, job)) => {
                    let (job, downloaded) = start(&downloader, &root, job).await;
                    say(console, &mut results, &job, downloaded)?;
                }
                Err(why) => results.failed(console, address.prefix.as_bytes(), &why)?,
            }
        }
        Ok(None) => all(console, &mut results, &shown, &client, &downloader, address.below(), arguments).await?,
        Err(error) => return Ok(refuse(console, about, &error.to_string())),
    }
    drop(shown);
    results.finish(console, &client)
}

/// The bytes of the object of this key, if there is one.
async fn object(client: &Client, address: &Address) -> Result<Option<u64>, RemoteError> {
    if address.prefix.is_empty() || address.prefix.ends_with('/') {
        return Ok(None);
    }
    match client.head(&address.prefix, HeadRequest::default()).await {
        Ok(head) => Ok(Some(head.content_length)),
        Err(error) if error.kind() == RemoteErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The directory and the file of a single object; or why it has none.
fn single(key: &str, destination: &Path) -> Result<(PathBuf, Job), String> {
    let job = |name: &str, below: PathBuf| Job { key: key.to_owned(), name: name.to_owned(), below };
    let ends_in_slash = destination.as_os_str().as_encoded_bytes().ends_with(b"/");
    if ends_in_slash || destination.is_dir() {
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        let below = Names::new().path(name).map_err(|error| error.to_string())?;
        return Ok((destination.to_owned(), job(name, below)));
    }
    let below = destination.file_name().ok_or("DEST is no name of a file")?;
    let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = below.to_string_lossy().into_owned();
    Ok((parent.unwrap_or(Path::new(".")).to_owned(), job(&name, below.into())))
}

/// Downloads all objects below a prefix.
async fn all(
    console: &mut Console,
    results: &mut Results,
    shown: &Shown,
    client: &Client,
    downloader: &Arc<Downloader<Client>>,
    address: Address,
    arguments: &DownloadArguments,
) -> io::Result<()> {
    let (prefix, root) = (address.prefix.as_str(), arguments.destination.as_path());
    let mut names = Names::new();
    let mut is_any = false;
    let jobs = objects(client, prefix).filter_map(|listed| {
        let job = match listed {
            Err(error) => Some(Err((None, error.to_string()))),
            Ok(listed) => {
                is_any = true;
                let is_folder = listed.size == 0 && listed.key.ends_with('/');
                (!is_folder).then(|| plan(&mut names, prefix, listed, shown))
            }
        };
        std::future::ready(job)
    });
    {
        let started = jobs.map(|job| async move {
            match job {
                Ok(job) => Ok(start(downloader, root, job).await),
                Err(wrong) => Err(wrong),
            }
        });
        let mut downloads = pin!(started.buffer_unordered(AT_ONCE));
        while let Some(done) = downloads.next().await {
            match done {
                Ok((job, downloaded)) => {
                    shown.done(job.name.as_bytes());
                    say(console, results, &job, downloaded)?;
                }
                Err((Some(key), why)) => results.failed(console, key.as_bytes(), &why)?,
                Err((None, why)) => {
                    console.message(why);
                    results.fail();
                }
            }
        }
    }
    if !is_any && results.is_well() {
        refuse(console, &arguments.address, "there is no object of this key, and none below it");
        results.fail();
    }
    Ok(())
}

/// Where an object goes; or its key, and why it goes nowhere.
fn plan(names: &mut Names, prefix: &str, listed: Listed, shown: &Shown) -> Result<Job, (Option<String>, String)> {
    let Some(name) = listed.key.strip_prefix(prefix).map(str::to_owned) else {
        return Err((Some(listed.key), format!("listed though it does not begin with `{prefix}`")));
    };
    match names.path(&name) {
        Ok(below) => {
            shown.more(listed.size);
            Ok(Job { key: listed.key, name, below })
        }
        Err(error) => Err((Some(listed.key), error.to_string())),
    }
}

/// The objects whose keys begin with a prefix, as they are listed.
fn objects(client: &Client, prefix: &str) -> impl Stream<Item = Result<Listed, RemoteError>> {
    struct Pages {
        ready: VecDeque<Listed>,
        continuation: Option<String>,
        is_over: bool,
    }
    let begin = Pages { ready: VecDeque::new(), continuation: None, is_over: false };
    stream::unfold(begin, move |mut pages| async move {
        loop {
            if let Some(listed) = pages.ready.pop_front() {
                return Some((Ok(listed), pages));
            }
            if pages.is_over {
                return None;
            }
            match client.list(prefix, pages.continuation.as_deref()).await {
                Ok(page) => {
                    // A service that gives the same page again has no end.
                    pages.is_over = page.continuation.is_none() || page.continuation == pages.continuation;
                    pages.continuation = page.continuation;
                    pages.ready = page.objects.into();
                }
                Err(error) => {
                    pages.is_over = true;
                    return Some((Err(error), pages));
                }
            }
        }
    })
}

/// Downloads an object in a task of its own.
async fn start(downloader: &Arc<Downloader<Client>>, root: &Path, job: Job) -> (Job, Result<Downloaded, Error>) {
    let (downloader, root) = (downloader.clone(), root.to_owned());
    let (key, below) = (job.key.clone(), job.below.clone());
    let downloaded = tokio::spawn(async move { downloader.object(&key, &root, &below).await });
    let downloaded = downloaded.await.unwrap_or_else(|error| Err(Error::Write(io::Error::other(error))));
    (job, downloaded)
}

fn say(
    console: &mut Console,
    results: &mut Results,
    job: &Job,
    downloaded: Result<Downloaded, Error>,
) -> io::Result<()> {
    match downloaded {
        Ok(downloaded) => results.well(console, Record::downloaded(job.name.as_bytes(), &job.key, &downloaded)),
        Err(error) => results.failed(console, job.key.as_bytes(), &reason(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn where_a_single_object_goes() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = |key: &str, destination: &OsStr| {
            let (root, job) = single(key, Path::new(destination)).ok()?;
            Some((root, job.below))
        };
        let root = directory.path();
        assert_eq!(place("a/b", root.as_os_str()), Some((root.to_owned(), "b".into())));
        assert_eq!(place("a/b", root.join("c").as_os_str()), Some((root.to_owned(), "c".into())));
        assert_eq!(place("a/b", OsStr::new("c")), Some((".".into(), "c".into())));
        assert_eq!(place("a/b", OsStr::new("none/")), Some(("none/".into(), "b".into())));
        assert_eq!(place("a/..", root.as_os_str()), None);
        assert_eq!(place("a", OsStr::new("..")), Some(("..".into(), "a".into())));
    }
}
