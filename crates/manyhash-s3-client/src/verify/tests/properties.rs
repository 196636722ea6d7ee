//! Random sides: what is said is true, and costs no more than it may.

use super::*;
use crate::remote::*;
use manyhash::Digest;
use manyhash_s3::checksum::{Checksum, ObjectChecksum};
use manyhash_s3::etag::ETag;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

const NAMES: [&str; 7] = ["a", "a.b", "b/c", "b/d/e", "b-", "z", "é"];

/// What becomes of a name: an object, and whether the other side has it, with the same bytes or others.
#[derive(Clone, Debug)]
struct Case {
    size: usize,
    form: [FormOf; 2],
    fate: Fate,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Same,
    Flipped(Index),
    Longer,
    FirstOnly,
    SecondOnly,
}

#[derive(Clone, Debug)]
struct FormOf {
    cuts: Vec<Index>,
    is_whole: bool,
    every: Option<usize>,
    checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
    encryption: Option<Encryption>,
}

impl FormOf {
    fn object(&self, bytes: &[u8]) -> Object {
        let cuts = if self.is_whole {
            Cuts::Whole
        } else if let Some(every) = self.every {
            Cuts::every(every, bytes.len())
        } else {
            let mut edges: Vec<usize> = self.cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            edges.extend([0, bytes.len()]);
            edges.sort_unstable();
            edges.dedup();
            let sizes: Vec<usize> = edges.windows(2).map(|pair| pair[1] - pair[0]).collect();
            Cuts::Sizes(if sizes.is_empty() { vec![0] } else { sizes })
        };
        let mut object = Object::new(bytes).cut(cuts);
        object.encryption = self.encryption;
        object.checksum = self.checksum;
        object
    }
}

fn forms() -> impl Strategy<Value = FormOf> {
    let algorithm = select(&ChecksumAlgorithm::ALL[..]);
    let kind = select(&[ChecksumType::Composite, ChecksumType::FullObject][..]);
    let checksum = option::of((algorithm, kind).prop_map(|(algorithm, kind)| {
        (algorithm, if algorithm.allows(kind) { kind } else { algorithm.default_type() })
    }));
    let encryption = select(&[None, None, Some(Encryption::S3), Some(Encryption::Kms), Some(Encryption::Customer)][..]);
    (vec(any::<Index>(), 0..6), any::<bool>(), option::of(1_usize..4000), checksum, encryption).prop_map(
        |(cuts, is_whole, every, checksum, encryption)| FormOf { cuts, is_whole, every, checksum, encryption },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let fate = prop_oneof![
        3 => Just(Fate::Same),
        3 => any::<Index>().prop_map(Fate::Flipped),
        1 => Just(Fate::Longer),
        1 => Just(Fate::FirstOnly),
        1 => Just(Fate::SecondOnly),
    ];
    let size = prop_oneof![Just(0), 1_usize..10, 1_usize..9000];
    (size, forms(), forms(), fate).prop_map(|(size, one, other, fate)| Case { size, form: [one, other], fate })
}

fn quirks() -> impl Strategy<Value = memory::Quirks> {
    (1_usize..5, any::<[bool; 4]>(), 1_usize..4).prop_map(|(page, [parts, attributes, lists, types], of_parts)| {
        memory::Quirks {
            page,
            knows_part_numbers: parts,
            knows_attributes: attributes,
            lists_algorithms: lists,
            tells_types: types,
            attribute_parts_page: of_parts,
        }
    })
}

/// What the second side has, if the first has these bytes.
fn other_bytes(case: &Case, bytes: &[u8]) -> Vec<u8> {
    match case.fate {
        Fate::Flipped(at) if !bytes.is_empty() => flipped(bytes, at.index(bytes.len())),
        Fate::Longer | Fate::Flipped(_) => [bytes, b"!"].concat(),
        _ => bytes.to_vec(),
    }
}

/// Which sides are trees and lists instead of buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Tree,
    Bucket,
    List,
}

fn check(
    cases: &BTreeMap<&'static str, Case>,
    quirks: &memory::Quirks,
    kinds: [Kind; 2],
    download: bool,
) -> Result<(), TestCaseError> {
    let directories = [tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory")];
    let mut objects = [Vec::new(), Vec::new()];
    let mut lines = [Vec::new(), Vec::new()];
    for (name, case) in cases {
        let bytes = bytes(case.size);
        let contents = [bytes.clone(), other_bytes(case, &bytes)];
        for side in 0..2 {
            if matches!((case.fate, side), (Fate::FirstOnly, 1) | (Fate::SecondOnly, 0)) {
                continue;
            }
            match kinds[side] {
                Kind::Tree => write(directories[side].path(), name, &contents[side]),
                Kind::Bucket => objects[side].push((*name, case.form[side].object(&contents[side]))),
                Kind::List => {
                    let algorithm = case.form[side].checksum.map_or(ChecksumAlgorithm::Md5, |(algorithm, _)| algorithm);
                    let value = function::value(&manyhash_s3::checksum::digest(algorithm, &contents[side]));
                    lines[side].push(Ok(Entry::listed(*name, None).with_digest(algorithm, value)));
                }
            }
        }
    }
    let memories = objects.map(|objects| {
        let mut memory = Memory::new(objects);
        memory.quirks = quirks.clone();
        Arc::new(memory)
    });
    let [a, b] = lines;
    let mut lines = [Some(a), Some(b)];
    let mut sides = [0, 1].map(|side| match kinds[side] {
        Kind::Tree => Some(Side::Tree(directories[side].path().to_owned())),
        Kind::Bucket => Some(bucket(&memories[side])),
        Kind::List => {
            let mut lines: Vec<std::io::Result<Entry>> = lines[side].take().expect("once");
            lines.sort_by(|one, other| {
                let name = |line: &std::io::Result<Entry>| line.as_ref().map(|entry| entry.name().to_vec()).ok();
                name(one).cmp(&name(other))
            });
            Some(Side::List(Box::new(lines.into_iter())))
        }
    });
    let sides = [sides[0].take().expect("a side"), sides[1].take().expect("a side")];
    let all = outcomes(sides, Settings { download, ..Settings::default() });
    let names: Vec<&[u8]> = all.iter().map(|outcome| &outcome.name[..]).collect();
    let mut due: Vec<&[u8]> = cases.keys().map(|name| name.as_bytes()).collect();
    due.sort_unstable();
    prop_assert_eq!(names, due);
    let can_download = download && kinds.contains(&Kind::Bucket);
    for outcome in &all {
        let name = std::str::from_utf8(&outcome.name).expect("UTF-8");
        let case = &cases[name];
        let is_equal = matches!(case.fate, Fate::Same);
        match (&outcome.state, case.fate) {
            (State::Missing, Fate::FirstOnly) | (State::Extra, Fate::SecondOnly) => {}
            (_, Fate::FirstOnly | Fate::SecondOnly) => prop_assert!(false, "{outcome:?}"),
            (State::Same(_), _) => prop_assert!(is_equal, "{outcome:?} {case:?}"),
            (State::Differs(_), _) => prop_assert!(!is_equal, "{outcome:?} {case:?}"),
            (State::Unverified(_), _) => {
                let is_tree = kinds == [Kind::Tree; 2];
                prop_assert!(!is_tree && !can_download, "{outcome:?} {case:?}");
            }
            _ => prop_assert!(false, "{outcome:?}"),
        }
    }
    // A HEAD for each part, and a handful besides.
    let names = cases.len() as u64;
    for memory in &memories {
        let [heads, part_heads, attributes, reads] = memory.asked();
        let parts: u64 = memory.objects.lock().expect("not poisoned").values().map(parts_of).sum();
        prop_assert!(heads <= names, "{heads} HEAD of {names}");
        prop_assert!(part_heads <= 2 * names + parts, "{part_heads} HEAD of {parts} parts");
        prop_assert!(attributes <= names + parts, "{attributes} of {parts} parts");
        prop_assert!(reads <= 2 * names && (download || reads == 0), "{reads} reads");
    }
    Ok(())
}

fn parts_of(object: &Object) -> u64 {
    match &object.cuts {
        Cuts::Whole => 1,
        Cuts::Sizes(sizes) => sizes.len() as u64,
    }
}

/// A service that answers anything.
struct Nonsense {
    seed: u64,
    requests: AtomicU64,
}

impl Nonsense {
    /// The next number, any at all but often an edge.
    fn number(&self) -> u64 {
        let i = self.requests.fetch_add(1, Ordering::SeqCst);
        let random = (self.seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(self.seed | 1);
        match random % 7 {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => 20,
            4 => 7,
            5 => 10,
            _ => random,
        }
    }

    fn etag(&self) -> Option<ETag> {
        let parts = ["", "-1", "-2", "-3", "-10000", "-4294967295", "-x"][(self.number() % 7) as usize];
        // Nearly always the one that was listed, so that there are questions after the first.
        Some(ETag::new(format!(
            "d41d8cd98f00b204e9800998ecf8427e{}",
            if self.seed.is_multiple_of(3) { parts } else { "-3" }
        )))
    }

    fn checksums(&self) -> Vec<ObjectChecksum> {
        let algorithm = ChecksumAlgorithm::ALL[(self.number() % 10) as usize];
        let digest = Digest::from_bytes(&vec![7; algorithm.digest_bytes()]).expect("not too long");
        let checksum = Checksum::new(algorithm, digest.as_bytes()).expect("as long as it is");
        let mut checksum = ObjectChecksum::of_body(checksum);
        if self.number().is_multiple_of(2) {
            checksum.kind = ChecksumType::Composite;
            checksum.parts = std::num::NonZeroU32::new(self.number() as u32);
        }
        vec![checksum; (self.number() % 3) as usize]
    }

    fn kind(&self) -> Option<ChecksumType> {
        [None, Some(ChecksumType::Composite), Some(ChecksumType::FullObject)][(self.number() % 3) as usize]
    }
}

impl Remote for Nonsense {
    fn bucket(&self) -> &str {
        "nonsense"
    }

    async fn list(&self, _: &str, _: Option<&str>) -> Result<Page, RemoteError> {
        let listed = Listed {
            key: "x".to_owned(),
            size: if self.seed.is_multiple_of(2) { 20 } else { self.number() },
            etag: self.etag(),
            modified: None,
            checksum_algorithms: vec![],
            checksum_type: self.kind(),
            storage_class: None,
        };
        Ok(Page { objects: vec![listed], continuation: None })
    }

    async fn head(&self, _: &str, _: HeadRequest) -> Result<Head, RemoteError> {
        Ok(Head {
            content_length: self.number(),
            size: [None, Some(20), Some(self.number())][(self.number() % 3) as usize],
            etag: self.etag(),
            parts_count: [None, Some(3), Some(self.number() as u32)][(self.number() % 3) as usize],
            checksums: self.checksums(),
            checksum_type: self.kind(),
            encryption: [None, Some(Encryption::Kms)][(self.number() % 2) as usize],
            ..Head::default()
        })
    }

    async fn attributes(&self, _: &str, marker: Option<u32>) -> Result<Attributes, RemoteError> {
        let parts: Vec<Part> =
            (0..self.number() % 4).map(|i| Part { number: i as u32, size: self.number(), checksums: vec![] }).collect();
        Ok(Attributes {
            etag: self.etag(),
            size: None,
            checksums: self.checksums(),
            checksum_type: self.kind(),
            parts_count: Some([3, self.number() as u32][(self.number() % 2) as usize]),
            parts,
            next_part_marker: [None, Some(self.number() as u32), marker][(self.number() % 3) as usize],
            storage_class: None,
        })
    }

    async fn read(&self, _: &str, request: ReadRequest) -> Result<Body, RemoteError> {
        let length = self.number().min(1000) as usize;
        assert!(!request.range.expect("a range").is_empty());
        let piece = Ok(bytes::Bytes::from(vec![7; length]));
        Ok(Box::pin(futures_util::stream::iter([piece])))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_wrong_is_said(
        cases in proptest::collection::btree_map(select(&NAMES[..]), cases(), 1..7),
        quirks in quirks(),
        kinds in select(&[
            [Kind::Tree, Kind::Bucket], [Kind::Bucket, Kind::Tree], [Kind::Bucket, Kind::Bucket],
            [Kind::List, Kind::Bucket], [Kind::Bucket, Kind::List], [Kind::Tree, Kind::List], [Kind::Tree, Kind::Tree],
        ][..]),
        download: bool,
    ) {
        check(&cases, &quirks, kinds, download)?;
    }

    #[test]
    fn nonsense_comes_to_an_end(seed: u64, download: bool) {
        let (directory, _) = tree(&bytes(20));
        let side = Side::Tree(directory.path().to_owned());
        let nonsense = Arc::new(Nonsense { seed, requests: AtomicU64::new(0) });
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let remote = nonsense.clone();
        let count = runtime.block_on(async {
            let sides = [side, Side::Bucket { remote, prefix: String::new() }];
            verify(sides, LocalFiles::new(None), Settings { download, ..Settings::default() }).count().await
        });
        prop_assert!(count >= 1);
    }
}
