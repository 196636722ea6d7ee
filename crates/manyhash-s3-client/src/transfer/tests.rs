//! Downloads from, and comparisons with, a bucket in memory.

use super::*;
use crate::remote::{Encryption, RemoteErrorKind};
use crate::verify::tests::memory::{Cuts, Memory, Object, Quirks};
use crate::verify::{Check, Form, Function, LocalFiles, Origin};
use futures_util::StreamExt;
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

fn bytes(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// Downloads the object `k` to the file `d/f`; what is in the directory afterwards.
async fn download(
    memory: Memory,
    change: impl FnOnce(&mut DownloadSettings),
) -> (Result<Downloaded, Error>, TempDir, Arc<Memory>) {
    let (directory, memory) = (tempfile::tempdir().unwrap(), Arc::new(memory));
    let mut settings = DownloadSettings::default();
    change(&mut settings);
    let downloader = Downloader::new(memory.clone(), settings).unwrap();
    let downloaded = downloader.object("k", directory.path(), Path::new("d/f")).await;
    (downloaded, directory, memory)
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(directory).into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

fn form(downloaded: &Downloaded) -> (String, Option<Origin>) {
    match &downloaded.check {
        None => ("unverified".to_owned(), None),
        Some(Check::Value { form, origins, .. }) => (form.to_string(), Some(origins[0])),
        Some(check) => (check.to_string(), None),
    }
}

#[tokio::test]
async fn whatever_the_service_has_is_compared() {
    use ChecksumAlgorithm::*;
    use ChecksumType::*;
    let content = bytes(100_000);
    let whole = || Object::new(&content);
    let parts = || Object::new(&content).every(30_000);
    let uneven = || Object::new(&content).cut(Cuts::Sizes(vec![50_000, 1, 49_998, 1]));
    let mut cases = vec![
        (whole(), "md5", Origin::ETag),
        (parts(), "md5 of 4 parts", Origin::ETag),
        (uneven(), "md5 of 4 parts", Origin::ETag),
        (parts().checksum(Sha256, Composite), "sha256 of 4 parts", Origin::Checksum),
        (uneven().checksum(Sha256, Composite), "sha256 of 4 parts", Origin::Checksum),
        (parts().checksum(Crc64Nvme, FullObject), "crc64nvme", Origin::Checksum),
        // 32 bits prove less than an MD5.
        (whole().checksum(Crc32, FullObject), "md5", Origin::ETag),
        (parts().checksum(Crc32c, FullObject), "md5 of 4 parts", Origin::ETag),
        (parts().checksum(Crc32, Composite), "md5 of 4 parts", Origin::ETag),
        (parts().checksum(Crc32, Composite).encrypted(Encryption::Kms), "crc32 of 4 parts", Origin::Checksum),
        (parts().checksum(Crc32, FullObject).encrypted(Encryption::Kms), "crc32", Origin::Checksum),
        (parts().encrypted(Encryption::S3), "md5 of 4 parts", Origin::ETag),
        (Object::new(&content).every(200_000), "md5 of 1 part", Origin::ETag),
    ];
    for algorithm in ChecksumAlgorithm::ALL {
        let encrypted = whole().checksum(algorithm, FullObject).encrypted(Encryption::Customer);
        cases.push((encrypted, Function::from(algorithm).to_string().leak(), Origin::Checksum));
    }
    for (object, expected, origin) in cases {
        let memory = Memory::new([("k", object.clone())]);
        let (downloaded, directory, memory) = download(memory, |_| {}).await;
        let downloaded = downloaded.unwrap();
        assert_eq!(form(&downloaded), (expected.to_owned(), Some(origin)), "{:?} {:?}", object.cuts, object.checksum);
        assert_eq!(files(directory.path()), [directory.path().join("d/f")]);
        assert!(fs::read(directory.path().join("d/f")).unwrap() == content);
        assert_eq!((downloaded.size, downloaded.was_there), (100_000, false));
        assert_eq!(memory.read_bytes.load(Ordering::SeqCst), 100_000);
        // It is there, so that nothing is received.
        let again = Downloader::new(memory.clone(), DownloadSettings::default()).unwrap();
        let again = again.object("k", directory.path(), Path::new("d/f")).await.unwrap();
        assert_eq!((form(&again), again.was_there), (form(&downloaded), true));
        assert_eq!(memory.read_bytes.load(Ordering::SeqCst), 100_000);
    }
}

#[tokio::test]
async fn large_objects_are_received_in_ranges() {
    use ChecksumAlgorithm::Crc64Nvme;
    let content = bytes((16 << 20) + 4321);
    let object = Object::new(&content).checksum(Crc64Nvme, ChecksumType::FullObject).encrypted(Encryption::Kms);
    let counter = Arc::new(AtomicU64::new(0));
    let (downloaded, directory, memory) =
        download(Memory::new([("k", object)]), |settings| settings.counter = Some(counter.clone())).await;
    assert_eq!(form(&downloaded.unwrap()).0, "crc64nvme");
    assert!(fs::read(directory.path().join("d/f")).unwrap() == content);
    assert_eq!(memory.reads.load(Ordering::SeqCst), 2);
    assert_eq!(counter.load(Ordering::SeqCst), content.len() as u64);
}

#[tokio::test]
async fn services_that_know_less() {
    let content = bytes(50_000);
    let composite = || Object::new(&content).every(20_000).checksum(ChecksumAlgorithm::Sha1, ChecksumType::Composite);
    for (change, object, expected) in [
        ((|quirks| quirks.knows_attributes = false) as fn(&mut Quirks), composite(), "sha1 of 3 parts"),
        (|quirks| quirks.attribute_parts_page = 2, composite(), "sha1 of 3 parts"),
        (|quirks| quirks.knows_part_numbers = false, composite(), "sha1 of 3 parts"),
        (|quirks| quirks.tells_types = false, composite(), "sha1 of 3 parts"),
        (
            |quirks| quirks.tells_types = false,
            Object::new(&content).every(20_000).checksum(ChecksumAlgorithm::Crc64Nvme, ChecksumType::FullObject),
            "crc64nvme",
        ),
    ] {
        let (downloaded, ..) = download(Memory::new([("k", object)]).with(change), |_| {}).await;
        assert_eq!(form(&downloaded.unwrap()).0, expected);
    }
    // Nobody knows where it was cut.
    let unknown = || Memory::new([("k", Object::new(&content).every(20_000))]).with(|q| q.knows_part_numbers = false);
    let (downloaded, directory, _) = download(unknown(), |_| {}).await;
    assert!(matches!(downloaded, Err(Error::Unverifiable)));
    assert!(files(directory.path()).is_empty());
    let (downloaded, directory, _) = download(unknown(), |settings| settings.allow_unverified = true).await;
    assert_eq!(form(&downloaded.unwrap()).0, "unverified");
    assert!(fs::read(directory.path().join("d/f")).unwrap() == content);
}

#[tokio::test]
async fn an_empty_object_is_a_file() {
    for object in [Object::new(b""), Object::new(b"").encrypted(Encryption::Kms), Object::new(b"").every(5)] {
        let (downloaded, directory, _) = download(Memory::new([("k", object)]), |_| {}).await;
        assert_eq!(form(&downloaded.unwrap()).0, "empty");
        assert_eq!(fs::read(directory.path().join("d/f")).unwrap(), b"");
    }
}

/// A bucket whose bodies are not what it says.
struct Lying(Memory, Vec<u8>);

impl crate::remote::Remote for Lying {
    fn bucket(&self) -> &str {
        self.0.bucket()
    }

    async fn list(
        &self,
        prefix: &str,
        continuation: Option<&str>,
    ) -> Result<crate::remote::Page, crate::remote::RemoteError> {
        self.0.list(prefix, continuation).await
    }

    async fn head(
        &self,
        key: &str,
        request: crate::remote::HeadRequest,
    ) -> Result<crate::remote::Head, crate::remote::RemoteError> {
        self.0.head(key, request).await
    }

    async fn attributes(
        &self,
        key: &str,
        part_marker: Option<u32>,
    ) -> Result<crate::remote::Attributes, crate::remote::RemoteError> {
        self.0.attributes(key, part_marker).await
    }

    async fn read(
        &self,
        _: &str,
        request: crate::remote::ReadRequest,
    ) -> Result<crate::remote::Body, crate::remote::RemoteError> {
        let range = request.range.map_or(0..self.1.len(), |range| range.start as usize..range.end as usize);
        let piece = self.1.get(range).unwrap_or_default().to_vec();
        Ok(Box::pin(futures_util::stream::iter([Ok(piece.into())])))
    }
}

#[tokio::test]
async fn what_is_damaged_leaves_nothing() {
    use ChecksumAlgorithm::*;
    let content = bytes(100_000);
    let whole = || Object::new(&content);
    let objects = [
        whole(),
        whole().every(30_000),
        whole().checksum(Sha512, ChecksumType::FullObject),
        whole().checksum(XxHash3, ChecksumType::FullObject),
        whole().every(30_000).checksum(XxHash128, ChecksumType::Composite),
        whole().every(30_000).checksum(Crc64Nvme, ChecksumType::FullObject),
    ];
    let mut flipped = content.clone();
    flipped[77_777] ^= 1;
    let (shorter, longer) = (content[..99_999].to_vec(), [&content[..], b"1"].concat());
    for object in objects {
        // One in parts is asked for what there is.
        let has_ranges = object.cuts != Cuts::Whole && object.checksum.is_none_or(|(of, _)| of != Crc64Nvme);
        for wrong in [&flipped, &shorter, &longer].into_iter().take(if has_ranges { 2 } else { 3 }) {
            let directory = tempfile::tempdir().unwrap();
            let lying = Arc::new(Lying(Memory::new([("k", object.clone())]), wrong.clone()));
            let settings = DownloadSettings { allow_unverified: true, ..DownloadSettings::default() };
            let downloader = Downloader::new(lying, settings).unwrap();
            let error = downloader.object("k", directory.path(), Path::new("f")).await.unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
            assert!(files(directory.path()).is_empty());
        }
    }
}

#[tokio::test]
async fn what_changes_or_breaks_leaves_nothing() {
    let content = bytes(50_000);
    let memory = || Memory::new([("k", Object::new(&content).every(20_000))]);
    let requests = {
        let (downloaded, _, memory) = download(memory(), |_| {}).await;
        downloaded.unwrap();
        memory.asked().iter().sum::<u64>()
    };
    assert!(requests >= 6, "{requests}");
    for number in 0..requests {
        let failing = memory();
        *failing.fails.lock().unwrap() = Some((number, RemoteErrorKind::Other));
        let (downloaded, directory, _) = download(failing, |_| {}).await;
        assert!(matches!(downloaded, Err(Error::Remote(_))), "{number}");
        assert!(files(directory.path()).is_empty());
        let changing = memory();
        *changing.events.lock().unwrap() = vec![("k".to_owned(), number, Some(Object::new(&bytes(49_999))))];
        let (downloaded, directory, _) = download(changing, |settings| settings.allow_unverified = true).await;
        // The first request tells of what there is then.
        assert_eq!(downloaded.is_ok(), number == 0, "{number}");
        assert_eq!(files(directory.path()).len(), usize::from(number == 0));
    }
    let breaking = memory();
    *breaking.breaks.lock().unwrap() = Some(10_000);
    let (downloaded, directory, _) = download(breaking, |_| {}).await;
    assert!(matches!(downloaded, Err(Error::Remote(_))));
    assert!(files(directory.path()).is_empty());
}

#[tokio::test]
async fn files_that_are_there_stay() {
    let content = bytes(1000);
    let memory = Arc::new(Memory::new([("k", Object::new(&content))]));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    let mut settings = DownloadSettings::default();
    for other in [bytes(999), vec![0; 1000]] {
        fs::write(&path, &other).unwrap();
        let downloader = Downloader::new(memory.clone(), settings.clone()).unwrap();
        let error = downloader.object("k", directory.path(), Path::new("f")).await.unwrap_err();
        assert!(matches!(error, Error::FileExists), "{error}");
        assert_eq!(fs::read(&path).unwrap(), other);
    }
    settings.replace = true;
    let downloader = Downloader::new(memory, settings).unwrap();
    let downloaded = downloader.object("k", directory.path(), Path::new("f")).await.unwrap();
    assert!(!downloaded.was_there && fs::read(&path).unwrap() == content);
    assert_eq!(files(directory.path()), [path]);
}

#[tokio::test]
async fn what_a_bucket_lacks() {
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    fs::create_dir_all(tree.join("d")).unwrap();
    for (name, content) in [("same", "1"), ("d/differs", "2"), ("new", "3"), ("doubtful", "4"), ("size", "56")] {
        fs::write(tree.join(name), content).unwrap();
    }
    let memory = Memory::new([
        ("p/same", Object::new(b"1")),
        ("p/d/differs", Object::new(b"x")),
        ("p/doubtful", Object::new(b"4").encrypted(Encryption::Kms)),
        ("p/extra", Object::new(b"5")),
        ("p/folder/", Object::new(b"")),
        ("p/size", Object::new(b"5")),
        ("pq", Object::new(b"6")),
    ]);
    let mut found = BTreeMap::new();
    let mut all = pin!(actions(tree.clone(), Arc::new(memory), "p/".to_owned(), LocalFiles::new(None)));
    while let Some(action) = all.next().await {
        let (name, action) = action.unwrap();
        let action = match action {
            Action::Nothing(Check::Value { form: Form::Whole(_), .. }) => "nothing".to_owned(),
            Action::Upload { path, size, reason } => {
                assert_eq!(path, tree.join(str::from_utf8(&name).unwrap()));
                let reason = match reason {
                    Reason::Missing => "missing",
                    Reason::Differs(_) => "differs",
                    Reason::Unverified(_) => "unverified",
                };
                format!("upload {reason} {size:?}")
            }
            Action::Delete { size } => format!("delete {size:?}"),
            other => format!("{other:?}"),
        };
        found.insert(String::from_utf8(name).unwrap(), action);
    }
    let expected = [
        ("d/differs", "upload differs Some(1)"),
        ("doubtful", "upload unverified Some(1)"),
        ("extra", "delete Some(1)"),
        ("new", "upload missing Some(1)"),
        ("same", "nothing"),
        ("size", "upload differs Some(2)"),
    ];
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(name, action)| (name.to_owned(), action.to_owned())).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn what_cannot_be_read_is_not_decided() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("f"), "1").unwrap();
    let memory = Memory::new([("f", Object::new(b"2").encrypted(Encryption::Kms)), ("g", Object::new(b"2"))]);
    *memory.fails.lock().unwrap() = Some((1, RemoteErrorKind::Denied));
    let root = directory.path().to_owned();
    let found: Vec<_> = actions(root, Arc::new(memory), String::new(), LocalFiles::new(None)).collect().await;
    let [Ok((_, Action::Undecided(_))), Ok((_, Action::Delete { .. }))] = &found[..] else { panic!("{found:?}") };
    let none = actions(directory.path().join("none"), Arc::new(Memory::new([])), String::new(), LocalFiles::new(None));
    assert!(matches!(none.collect::<Vec<_>>().await[..], [Err(_)]));
}
