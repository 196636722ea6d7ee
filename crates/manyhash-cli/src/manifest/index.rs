//! A manifest in memory: what it says of a file is found by its name.
//!
//! A million entries take some 150 bytes each: names and digests lie behind one another.

use manyhash::{Digest, HashFunction};
use manysum::console::Console;
use manysum::figures::count;
use manysum::lists::read::{Line, List};
use manysum::lists::{Accepted, Entry, Parser};
use manysum::name;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// What a manifest says.
#[derive(Default)]
pub(super) struct Index {
    /// Those that any entry has a digest of, in the order of their first ones.
    pub(super) functions: Vec<HashFunction>,
    /// Each entry's name, and then its digests, each after the number of its function.
    bytes: Vec<u8>,
    /// Sorted by name, each name once.
    entries: Vec<Place>,
    /// Lines that say nothing.
    pub(super) improper: usize,
    /// Functions that digests are taken for by their length alone.
    pub(super) guesses: Vec<HashFunction>,
}

/// Names that are looked up in another manifest to find the directory that one is of.
const SOME: usize = 1000;

/// Where an entry is.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    name: u32,
    digests: u32,
    /// Of the file, where the manifest says so.
    size: Option<u64>,
}

impl Index {
    /// Reads a manifest, whose bare digits are of `function` if it is named; none if it cannot be read to its end, or no
    /// line of it can, which is said, as is how many lines are improperly formatted.
    pub(super) fn read(console: &mut Console, manifest: &OsStr, function: Option<HashFunction>) -> Option<Self> {
        match Self::open(console, manifest, function) {
            Ok(index) if index.entries.is_empty() && index.improper > 0 => {
                let what = "no properly formatted line found; if it does not name its algorithm, use --algorithm";
                console.about(name::bytes(manifest), what);
                None
            }
            Ok(index) => Some(index),
            Err(error) => {
                console.file_error(name::bytes(manifest), &error);
                None
            }
        }
    }

    fn open(console: &mut Console, manifest: &OsStr, function: Option<HashFunction>) -> io::Result<Self> {
        let mut parser = Parser::new(function.map_or(Accepted::Any, Accepted::Only));
        let mut list = List::open(manifest, &mut parser)?;
        let mut index = Index::default();
        let mut first = None;
        for Line { number, entry, is_guess } in &mut list {
            match entry {
                Ok(entry) => {
                    let guesses = entry.digests.iter().map(|(function, _)| *function).filter(|_| is_guess);
                    let new = guesses.filter(|guess| !index.guesses.contains(guess)).collect::<Vec<_>>();
                    index.guesses.extend(new);
                    index.push(&entry)?;
                }
                Err(_) => {
                    index.improper += 1;
                    first.get_or_insert(number);
                }
            }
        }
        list.end()?;
        if let Some(first) = first {
            let lines = count(index.improper, "improperly formatted line");
            console.about(name::bytes(manifest), &format!("{lines}, first at line {first}"));
        }
        index.sort();
        Ok(index)
    }

    fn push(&mut self, entry: &Entry) -> io::Result<()> {
        let Entry { name, size, digests } = entry;
        // Names are below the directory, and `find .` has a way to say so.
        let name = name.strip_prefix(b"./").unwrap_or(name);
        let size = *size;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        for (function, digest) in digests {
            let known = self.functions.iter().position(|known| known == function);
            let number = known.unwrap_or_else(|| {
                self.functions.push(*function);
                self.functions.len() - 1
            });
            let number = u8::try_from(number).map_err(|_| io::Error::other("digests of too many algorithms"))?;
            self.bytes.push(number);
            self.bytes.extend_from_slice(digest.as_bytes());
        }
        let too_long = |_| io::Error::other("a name is too long");
        let digests = self.bytes.len() - start - name.len();
        let (name, digests) = (name.len().try_into().map_err(too_long)?, digests.try_into().map_err(too_long)?);
        self.entries.push(Place { start, name, digests, size });
        Ok(())
    }

    /// Sorts entries, and makes those of one name one.
    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_by(|one, other| self.name_of(one).cmp(self.name_of(other)));
        for place in entries {
            match self.entries.last().copied() {
                Some(last) if self.name_of(&last) == self.name_of(&place) => {
                    // Both behind the rest, for neither has room for the other where it is.
                    let start = self.bytes.len();
                    let end = |place: &Place| place.start + place.name as usize + place.digests as usize;
                    self.bytes.extend_from_within(last.start..end(&last));
                    self.bytes.extend_from_within(place.start + place.name as usize..end(&place));
                    let digests = last.digests.saturating_add(place.digests);
                    let merged = Place { start, digests, size: last.size.or(place.size), ..last };
                    self.entries.pop();
                    self.entries.push(merged);
                }
                _ => self.entries.push(place),
            }
        }
    }

    /// Takes names for ones below this directory that are absolute and lead there.
    pub(super) fn relate(&mut self, directory: &Path) {
        let prefixes = [directory.canonicalize(), std::path::absolute(directory)].into_iter().flatten();
        for prefix in prefixes {
            self.strip(name::bytes(prefix.as_os_str()));
        }
    }

    /// The same for a manifest whose names are all absolute beside one whose names are not: of all directories that it may
    /// be of, the one below which most files have names that the other one has.
    pub(super) fn relate_to(&mut self, other: &Index) {
        let is_absolute = |index: &Index, i| index.name(i).starts_with(b"/");
        let is_relative = !(0..other.len()).any(|i| is_absolute(other, i));
        if self.len() == 0 || !is_relative || !(0..self.len()).all(|i| is_absolute(self, i)) {
            return;
        }
        // Sorted, so that what these two share, all do.
        let (first, last) = (self.name(0), self.name(self.len() - 1));
        let shared = first.iter().zip(last).take_while(|(one, other)| one == other).count();
        let ends = (0..shared).filter(|end| first[*end] == b'/');
        // Some tell as well as all.
        let step = self.len().div_ceil(SOME);
        let found = |end: usize| {
            (0..self.len()).step_by(step).filter(|i| other.find(&self.name(*i)[end + 1..]).is_some()).count()
        };
        let best = ends.map(|end| (found(end), end)).max().filter(|(found, _)| *found > 0);
        if let Some((_, end)) = best {
            let prefix = first[..end].to_vec();
            self.strip(&prefix);
        }
    }

    /// Shortens names that begin with a directory's.
    fn strip(&mut self, directory: &[u8]) {
        let directory = [directory.strip_suffix(b"/").unwrap_or(directory), b"/"].concat();
        let mut is_any = false;
        for i in 0..self.entries.len() {
            let is_below = self.name(i).starts_with(&directory) && self.name(i).len() > directory.len();
            if is_below {
                let place = &mut self.entries[i];
                place.start += directory.len();
                place.name -= directory.len() as u32;
                is_any = true;
            }
        }
        if is_any {
            self.sort();
        }
    }

    fn name_of(&self, place: &Place) -> &[u8] {
        &self.bytes[place.start..][..place.name as usize]
    }

    /// How many files it lists.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The name of an entry.
    pub(super) fn name(&self, i: usize) -> &[u8] {
        self.name_of(&self.entries[i])
    }

    /// The digests of an entry; of one function more than one, if the manifest contradicts itself.
    pub(super) fn digests(&self, i: usize) -> impl Iterator<Item = (HashFunction, Digest)> {
        let Place { start, name, digests, .. } = self.entries[i];
        let mut rest = &self.bytes[start + name as usize..][..digests as usize];
        std::iter::from_fn(move || {
            let (number, after) = rest.split_first()?;
            let function = self.functions[usize::from(*number)];
            let (digest, after) = after.split_at_checked(function.digest_bytes())?;
            rest = after;
            Some((function, Digest::from_bytes(digest).ok()?))
        })
    }

    /// An entry as it was.
    pub(super) fn entry(&self, i: usize) -> Entry {
        Entry { name: self.name(i).to_vec(), size: self.entries[i].size, digests: self.digests(i).collect() }
    }

    /// The entry of this name.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        self.entries.binary_search_by(|place| self.name_of(place).cmp(name)).ok()
    }

    /// Whether a file with these digests, of these functions, is as an entry says; every digest counts that both have,
    /// and one there must be.
    pub(super) fn is_as_listed(&self, i: usize, functions: &[HashFunction], digests: &[Digest]) -> bool {
        let mut compared = self.digests(i).filter_map(|(function, listed)| {
            let computed = functions.iter().position(|of| *of == function).and_then(|place| digests.get(place))?;
            Some(*computed == listed)
        });
        let first = compared.next();
        first == Some(true) && compared.all(|is_same| is_same)
    }

    /// The entries of both, in the order of their names, one or both of each.
    pub(super) fn merge<'a>(
        one: &'a Index,
        other: &'a Index,
    ) -> impl Iterator<Item = (Option<usize>, Option<usize>)> + 'a {
        let (mut i, mut j) = (0, 0);
        std::iter::from_fn(move || {
            let order = match (i < one.len(), j < other.len()) {
                (false, false) => return None,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (true, true) => one.name(i).cmp(other.name(j)),
            };
            let pair = (order.is_le().then_some(i), order.is_ge().then_some(j));
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
            Some(pair)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyhash::Algorithm;

    const MD5: HashFunction = HashFunction::Lanes(Algorithm::Md5);
    const SHA1: HashFunction = HashFunction::Lanes(Algorithm::Sha1);

    fn digest(function: HashFunction, content: &str) -> (HashFunction, Digest) {
        let HashFunction::Lanes(algorithm) = function else { unreachable!() };
        (function, manyhash::digest(algorithm, content.as_bytes()))
    }

    fn index(entries: &[(&str, &[(HashFunction, Digest)])]) -> Index {
        let mut index = Index::default();
        for (name, digests) in entries {
            let (name, digests) = (name.as_bytes().to_vec(), digests.to_vec());
            index.push(&Entry { name, size: None, digests }).expect("it has room");
        }
        index.sort();
        index
    }

    #[test]
    fn entries_are_found_and_made_one() {
        let [a, b, c] = ["a", "b", "c"].map(|content| digest(MD5, content));
        let d = digest(SHA1, "d");
        let index = index(&[("x/c", &[c]), ("./b", &[b]), ("a", &[a]), ("b", &[d]), ("b", &[c])]);
        assert_eq!((index.len(), &index.functions[..]), (3, &[MD5, SHA1][..]));
        let of = |name: &[u8]| index.find(name).map(|i| index.digests(i).collect::<Vec<_>>());
        assert_eq!((of(b"a"), of(b"x/c"), of(b"b")), (Some(vec![a]), Some(vec![c]), Some(vec![b, d, c])));
        assert_eq!((of(b""), of(b"x"), of(b"./b")), (None, None, None));
        let is_as_listed = |name: &[u8], digests: &[Digest]| {
            index.is_as_listed(index.find(name).expect("an entry"), &[MD5, SHA1], digests)
        };
        assert!(is_as_listed(b"a", &[a.1, b.1]) && !is_as_listed(b"a", &[b.1, a.1]));
        // It contradicts itself, so no file is as it says.
        assert!(!is_as_listed(b"b", &[b.1, d.1]) && !is_as_listed(b"b", &[c.1, d.1]));
        assert!(!is_as_listed(b"a", &[]), "nothing was compared");
    }

    #[test]
    fn absolute_names() {
        let [a, b] = ["a", "b"].map(|content| digest(MD5, content));
        let names = |index: &Index| (0..index.len()).map(|i| index.name(i).to_vec()).collect::<Vec<_>>();
        let mut one = index(&[("/x/y/d/a", &[a]), ("/x/y/d/e/b", &[b]), ("/x/y/d/e/c", &[b])]);
        one.strip(b"/x/y/d");
        assert_eq!(names(&one), [&b"a"[..], b"e/b", b"e/c"]);
        // Names of other directories stay, and the order is one of names again.
        let mut some = index(&[("/x/d/b", &[b]), ("/x/dd/a", &[a]), ("0", &[a])]);
        some.strip(b"/x/d/");
        assert_eq!(names(&some), [&b"/x/dd/a"[..], b"0", b"b"]);
        assert_eq!((some.find(b"b"), some.find(b"0")), (Some(2), Some(1)));
        let relative = index(&[("d/a", &[a]), ("d/e/b", &[b]), ("b", &[b])]);
        let mut absolute = index(&[("/x/y/d/a", &[a]), ("/x/y/d/e/b", &[b]), ("/x/y/d/e/c", &[b])]);
        absolute.relate_to(&relative);
        assert_eq!(names(&absolute), [&b"d/a"[..], b"d/e/b", b"d/e/c"]);
        for other in [index(&[("q", &[a])]), index(&[("/x/y/d/a", &[a])])] {
            let mut absolute = index(&[("/x/y/d/a", &[a])]);
            absolute.relate_to(&other);
            assert_eq!(names(&absolute), [b"/x/y/d/a"]);
        }
    }

    #[test]
    fn two_are_merged() {
        let [a, b] = ["a", "b"].map(|content| digest(MD5, content));
        let (one, other) = (index(&[("a", &[a]), ("b", &[b]), ("d", &[a])]), index(&[("b", &[a]), ("c", &[b])]));
        let pairs: Vec<_> = Index::merge(&one, &other).collect();
        assert_eq!(pairs, [(Some(0), None), (Some(1), Some(0)), (None, Some(1)), (Some(2), None)]);
    }
}
