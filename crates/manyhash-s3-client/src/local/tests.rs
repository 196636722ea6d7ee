//! Known answers, and all that differs from them: cuts, algorithms, files, threads, changes.

use super::open::OpenFile;
use super::*;
use manyhash_s3::checksum::ChecksumAlgorithm::{
    self, Crc32, Crc64Nvme, Md5, Sha1, Sha256, Sha512, XxHash3, XxHash64, XxHash128,
};
use manyhash_s3::checksum::ChecksumType::{Composite, FullObject};
use manyhash_s3::checksum::{Checksum, composite, digest};
use manyhash_s3::etag::{ETag, multipart};
use manyhash_s3::limits::MAX_PARTS;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// Bytes that no two parts have in common.
fn bytes(size: u64) -> Vec<u8> {
    let words = (0..size.div_ceil(8)).flat_map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    words.take(size as usize).collect()
}

/// A directory with a file of these bytes, written a while ago.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, bytes).unwrap();
    age(&path);
    (directory, path)
}

fn age(path: &Path) {
    let past = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(path).unwrap().set_modified(past).unwrap();
}

fn every(part_bytes: u64) -> Cut {
    Cut::every(part_bytes).unwrap()
}

fn wanted(all: &[(Cut, ChecksumAlgorithm)]) -> Wanted {
    let mut wanted = Wanted::new();
    for (cut, algorithm) in all {
        wanted.checksum(cut.clone(), *algorithm);
    }
    wanted
}

fn threads<'a>(threads: usize) -> Files<'a> {
    Files::new().threads(NonZeroUsize::new(threads))
}

/// By Python's hashlib and zlib.
#[test]
fn known_answers() {
    let (_directory, path) = file(&bytes(20_000_000));
    let etags = [
        (Cut::Whole, "f5baf68ee6e9b27ad366401d8529917d"),
        (every(8 * MIB), "1493af0d3dc98f52e171049233b792fe-3"),
        (every(5 * MIB), "0197b31411e70323b76bdb8566b9e5a1-4"),
        (every(7_000_000), "1ba98850bd6f0893f1209b931bf850a9-3"),
        (Cut::of_sizes([7_000_000, 7_000_000, 6_000_000]).unwrap(), "1ba98850bd6f0893f1209b931bf850a9-3"),
        (every(20_000_000), "410edc1a3cf11579bd572667ee3cb2ef-1"),
        (every(30_000_000), "410edc1a3cf11579bd572667ee3cb2ef-1"),
    ];
    let checksums = [
        (Cut::Whole, FullObject, Crc32, "OYAYLg=="),
        (every(8 * MIB), FullObject, Crc32, "OYAYLg=="),
        (every(8 * MIB), Composite, Crc32, "hfWcVw==-3"),
        (every(8 * MIB), Composite, Md5, "FJOvDT3Jj1LhcQSSM7eS/g==-3"),
        (every(8 * MIB), Composite, Sha1, "9/mf8P1FW7SE7XmpMdYUg/Sw7s8=-3"),
        (every(8 * MIB), Composite, Sha256, "7B5B8E90zYjsmDQOj6fDYgGshT5HlqwXqrZcFHQPDpE=-3"),
        (Cut::Whole, FullObject, Sha256, "1oZkkZjhw4LhLTtN9wWJQvBl9tz7UQnloPeWTsF8kmo="),
        (
            Cut::Whole,
            FullObject,
            Sha512,
            "7DrL2JknIgELzhbLwcHWT3n20iTB8WFLEZ7CiH5/kerscG/1MVn29bVWdF1acGP7vHnX+JwDg+A1Ciy7Zvp9Pw==",
        ),
    ];
    let mut all = Wanted::new();
    for (cut, _) in &etags {
        all.etag(cut.clone());
    }
    for (cut, _, algorithm, _) in &checksums {
        all.checksum(cut.clone(), *algorithm);
    }
    let digested = Files::new().digest_one(&path, all).unwrap();
    assert_eq!(digested.size(), 20_000_000);
    for (cut, etag) in etags {
        assert_eq!(digested.etag(&cut).unwrap().as_str(), etag, "{cut:?}");
    }
    for (cut, kind, algorithm, text) in checksums {
        assert_eq!(digested.checksum(&cut, algorithm, kind).unwrap().to_string(), text, "{cut:?} {algorithm}");
    }
    // What S3 does not have, and what was not asked for.
    assert!(digested.checksum(&every(8 * MIB), Sha256, FullObject).is_none());
    assert!(digested.checksum(&Cut::Whole, Sha256, Composite).is_none());
    assert!(digested.checksum(&Cut::Whole, Crc64Nvme, FullObject).is_none());
    assert!(digested.etag(&every(9)).is_none());
}

/// As AWS's CRT computes them.
#[test]
fn known_answers_of_short_files() {
    let (_directory, path) = file(b"hello world");
    let all = [(XxHash64, "RatnNLIeaWg="), (XxHash3, "1Eex6kDmmIs="), (XxHash128, "340J6T+HSQCpm4d1zBW2xw==")];
    let digested = Files::new().digest_one(&path, wanted(&all.map(|(one, _)| (Cut::Whole, one)))).unwrap();
    for (algorithm, text) in all {
        assert_eq!(digested.checksum(&Cut::Whole, algorithm, FullObject).unwrap().to_string(), text);
    }
    let (_directory, path) = file(b"");
    let digested = Files::new().digest_one(&path, wanted(&[(Cut::Whole, Md5), (every(5), Md5)])).unwrap();
    assert_eq!(digested.etag(&Cut::Whole).unwrap().as_str(), "d41d8cd98f00b204e9800998ecf8427e");
    assert_eq!(digested.etag(&every(5)).unwrap().as_str(), "59adb24ef3cdbe0297f05b395827453f-1");
}

/// Compares with checksums of slices, one after another.
fn compare(content: &[u8], all: &[(Cut, ChecksumAlgorithm)], digested: &Digested) {
    for (cut, algorithm) in all {
        let mut rest = content;
        let parts: Vec<Checksum> = cut
            .part_sizes(content.len() as u64)
            .map(|size| digest(*algorithm, rest.split_off(..size as usize).unwrap()))
            .collect();
        assert_eq!(digested.parts(cut, *algorithm), Some(&parts[..]), "{cut:?} {algorithm}");
        if *cut == Cut::Whole {
            continue;
        }
        assert_eq!(digested.checksum(cut, *algorithm, Composite), composite(*algorithm, &parts).ok());
        if algorithm.allows(FullObject) {
            let whole = digested.checksum(cut, *algorithm, FullObject).unwrap();
            assert_eq!(whole.checksum, digest(*algorithm, content), "{cut:?} {algorithm}");
        }
        if *algorithm == Md5 {
            let md5s: Vec<[u8; 16]> = parts.iter().map(|part| part.as_bytes().try_into().unwrap()).collect();
            assert_eq!(digested.etag(cut), Some(ETag::new(multipart(&md5s))));
        }
    }
}

/// Cuts of so many bytes.
fn cuts(size: u64) -> impl Strategy<Value = Cut> {
    let least = size.div_ceil(MAX_PARTS.into()).max(1);
    prop_oneof![
        Just(Cut::Whole),
        (least..least + 2000).prop_map(every),
        (least..size.max(least) + 2).prop_map(every),
        // Sizes with common edges.
        (1..6u64).prop_map(move |n| every((n << 18).max(least))),
        proptest::collection::vec(0..=size, 0..5).prop_map(move |mut edges| {
            edges.extend([0, size]);
            edges.sort_unstable();
            Cut::of_sizes(edges.windows(2).map(|pair| pair[1] - pair[0])).unwrap()
        }),
    ]
}

fn wishes(size: u64) -> impl Strategy<Value = Vec<(Cut, ChecksumAlgorithm)>> {
    proptest::collection::vec((cuts(size), proptest::sample::select(&ChecksumAlgorithm::ALL[..])), 0..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn files_are_as_their_slices(
        (size, all) in (0..22u32, 0..MIB).prop_map(|(shift, size)| (4 * size) >> shift).prop_flat_map(|size| {
            (Just(size), wishes(size))
        }),
        several in 1..4usize,
    ) {
        let content = bytes(size);
        let (_directory, path) = file(&content);
        compare(&content, &all, &threads(several).digest_one(&path, wanted(&all)).unwrap());
        let digested = digest_reader(Short(&content), &wanted(&all)).unwrap();
        prop_assert!(digested.metadata().is_none() && digested.size() == size);
        compare(&content, &all, &digested);
    }

    #[test]
    fn many_files_come_in_their_order(
        files in (0..60usize).prop_flat_map(|number| proptest::collection::vec(
            (0..20u32, 0..MIB).prop_map(|(shift, size)| size >> shift).prop_flat_map(|size| (Just(size), wishes(size))),
            number,
        )),
        several in 1..4usize,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let items: Vec<_> = files.iter().enumerate().map(|(i, (size, all))| {
            let path = directory.path().join(i.to_string());
            // Some are not there.
            if i % 7 != 3 {
                fs::write(&path, bytes(*size)).unwrap();
            }
            (i, path, wanted(all))
        }).collect();
        let mut next = 0;
        threads(several).digest(items, |i, digested| {
            assert_eq!(i, next);
            next += 1;
            match digested {
                Ok(digested) => compare(&bytes(files[i].0), &files[i].1, &digested),
                Err(error) => assert!(i % 7 == 3 && matches!(error, Error::Read(_)), "{error}"),
            }
            ControlFlow::Continue(())
        });
        prop_assert_eq!(next, files.len());
    }
}

/// A pipe, whose reads are short.
struct Short<'a>(&'a [u8]);

impl Read for Short<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(70_001);
        self.0.read(&mut buffer[..most])
    }
}

#[test]
fn ten_thousand_parts() {
    let content = bytes(10_000 * 37);
    let (_directory, path) = file(&content);
    let all = [(every(37), Md5), (every(37), Crc64Nvme), (every(38), Sha256)];
    compare(&content, &all, &Files::new().digest_one(&path, wanted(&all)).unwrap());
    // One too many.
    let all = wanted(&[(every(36), Md5)]);
    let error = Files::new().digest_one(&path, all.clone()).unwrap_err();
    assert!(matches!(error, Error::TooManyParts { part_bytes: 36 }), "{error}");
    let error = digest_reader(&content[..], &all).unwrap_err();
    assert!(matches!(error, Error::TooManyParts { part_bytes: 36 }), "{error}");
    // Which is told before all of it was read.
    assert!(matches!(digest_reader(io::repeat(0), &all), Err(Error::TooManyParts { .. })));
}

#[test]
fn parts_of_another_size() {
    let all = wanted(&[(Cut::of_sizes([3, 4]).unwrap(), Md5)]);
    for size in [0, 3, 6, 8] {
        let (_directory, path) = file(&bytes(size));
        let results = [Files::new().digest_one(&path, all.clone()), digest_reader(&bytes(size)[..], &all)];
        for result in results {
            assert!(matches!(result, Err(Error::Size { size: found, parts_size: 7 }) if found == size), "{result:?}");
        }
    }
}

#[test]
fn every_byte_is_read_once() {
    let (_directory, path) = file(&bytes(40 * MIB));
    let cuts =
        [vec![every(5 * MIB)], vec![every(5 * MIB), every(8 * MIB), every(9 * MIB), Cut::Whole], vec![Cut::Whole]];
    for cuts in cuts {
        let mut all = Wanted::new();
        for cut in &cuts {
            all.etag(cut.clone()).checksum(Cut::Whole, Crc64Nvme);
        }
        let counter = AtomicU64::new(0);
        threads(3).counter(&counter).digest_one(&path, all).unwrap();
        assert_eq!(counter.into_inner(), 40 * MIB, "{cuts:?}");
    }
}

#[test]
fn what_is_no_file() {
    let (directory, path) = file(b"");
    let error = Files::new().digest_one(directory.path(), wanted(&[(Cut::Whole, Md5)])).unwrap_err();
    assert!(matches!(error, Error::NotAFile), "{error}");
    let error = Files::new().digest_one(path.join("none"), Wanted::new()).unwrap_err();
    assert!(matches!(error, Error::Read(_)), "{error}");
    if cfg!(target_os = "linux") {
        // It says that it is empty, and is not.
        let error = Files::new().digest_one("/proc/self/status", wanted(&[(Cut::Whole, Md5)])).unwrap_err();
        assert!(matches!(error, Error::Changed), "{error}");
        let error = Files::new().digest_one("/dev/null", wanted(&[(Cut::Whole, Md5)])).unwrap_err();
        assert!(matches!(error, Error::NotAFile), "{error}");
    }
}

#[test]
fn no_more_results_than_are_wanted() {
    let (_directory, path) = file(b"a");
    for several in [1, 3] {
        let mut seen = 0;
        let files = (0..10_000).map(|i| (i, path.clone(), wanted(&[(Cut::Whole, Md5)])));
        threads(several).digest(files, |i, _| {
            assert_eq!(i, seen);
            seen += 1;
            if seen == 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(seen, 100);
    }
}

/// What can happen to a file.
fn changes() -> [fn(&Path); 4] {
    [
        |path| File::options().append(true).open(path).unwrap().write_all(b"more").unwrap(),
        |path| File::options().write(true).open(path).unwrap().write_all(b"other").unwrap(),
        |path| File::options().write(true).open(path).unwrap().set_len(5).unwrap(),
        |path| File::options().write(true).open(path).unwrap().set_len(0).unwrap(),
    ]
}

/// The file is changed while a later one is drawn, when it is open and not read yet.
#[test]
fn files_that_change_have_no_digest() {
    for change in changes() {
        let (directory, path) = file(&bytes(3 * MIB));
        let other = directory.path().join("other");
        fs::write(&other, "other").unwrap();
        let all = wanted(&[(Cut::Whole, Md5), (every(MIB), Sha256)]);
        let items = [path.clone(), other.clone(), other].into_iter().enumerate().map(|(i, item)| {
            if i == 2 {
                change(&path);
            }
            (i, item, all.clone())
        });
        let mut seen = 0;
        threads(1).digest(items, |i, digested| {
            assert_eq!(matches!(digested, Err(Error::Changed)), i == 0, "{digested:?}");
            seen += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(seen, 3);
    }
}

#[test]
fn files_that_were_read_are_looked_at_again() {
    for change in changes() {
        let (_directory, path) = file(&bytes(1000));
        let (file, _) = OpenFile::open(&path, &Wanted::new()).unwrap();
        assert!(file.digested().is_ok());
        change(&path);
        assert!(matches!(file.digested(), Err(Error::Changed)));
    }
}

#[test]
fn cuts_are_guessed() {
    let content = bytes(37 * MIB + 5);
    let (_directory, path) = file(&content);
    let etag = |cut: &Cut| Files::new().digest_one(&path, wanted(&[(cut.clone(), Md5)])).unwrap().etag(cut).unwrap();
    for cut in [Cut::Whole, every(5 * MIB), every(8 * MIB), every(17_179_870), every(9_000_000), every(13 * MIB)] {
        let counter = AtomicU64::new(0);
        let files = Files::new().counter(&counter);
        let (found, digested) = files.guess(&path, &etag(&cut)).unwrap().unwrap();
        assert_eq!((&found, digested.size()), (&cut, content.len() as u64));
        // One read, however many candidates.
        let read = counter.load(Ordering::Relaxed);
        assert!(read < content.len() as u64 * 9 / 8, "{cut:?}: {read}");
    }
    let all = etag(&every(8 * MIB)).as_str().to_owned();
    let other = all.replace(|digit| matches!(digit, '0'..='7'), "8");
    for etag in ["", "x", "d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e-9", &other] {
        assert!(Files::new().guess(&path, &ETag::new(etag)).unwrap().is_none(), "{etag}");
    }
    assert!(Files::new().guess(path.join("none"), &ETag::new(all)).is_err());
}

#[test]
fn a_part_beyond_the_first_round_is_guessed() {
    let content = bytes(11 * MIB);
    let (_directory, path) = file(&content);
    let cut = manyhash_s3::part_size::candidates(11 * MIB, 2).nth(100).and_then(Cut::every).unwrap();
    let etag = Files::new().digest_one(&path, wanted(&[(cut.clone(), Md5)])).unwrap().etag(&cut).unwrap();
    let (found, _) = Files::new().guess(&path, &etag).unwrap().unwrap();
    assert_eq!(found, cut);
}
