//! Every entry point with messages that end at, or begin after, a page that cannot be touched: whoever reads or writes one
//! byte too many is killed. The digests are those of copies elsewhere.
#![cfg(unix)]

mod common;

use common::bytes;
use manyhash::engine::Engine;
use manyhash::merkle::{self, Node};
use manyhash::{Algorithm, Batch, Column, Digest, Encoding, Hasher, digest, digest_many, pbkdf2_many, update_many};
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::num::{NonZeroU32, NonZeroUsize};
use std::ptr::NonNull;

/// Bytes between two pages that cannot be touched.
struct Fenced {
    /// The page before them.
    pages: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory is this one's alone, as a `Vec`'s is.
unsafe impl Send for Fenced {}
// SAFETY: as above.
unsafe impl Sync for Fenced {}

impl Fenced {
    /// Of the largest page that systems have.
    const PAGE: usize = 64 << 10;

    /// So many pages of zeros.
    fn new(pages: usize) -> Self {
        let length = pages * Self::PAGE;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let all = (length + 2 * Self::PAGE).try_into().expect("it is not 0");
        // SAFETY: new memory, and of it what nothing refers to yet.
        let pages = unsafe {
            let pages = mmap_anonymous(None, all, protection, MapFlags::MAP_PRIVATE).expect("there is memory");
            mprotect(pages, Self::PAGE, ProtFlags::PROT_NONE).expect("it can be taken back");
            mprotect(pages.byte_add(Self::PAGE + length), Self::PAGE, ProtFlags::PROT_NONE)
                .expect("it can be taken back");
            pages.cast()
        };
        Fenced { pages, length }
    }

    fn noise(pages: usize) -> Self {
        let mut fenced = Fenced::new(pages);
        let noise = bytes(fenced.length);
        fenced.bytes_mut().copy_from_slice(&noise);
        fenced
    }

    /// So many values, which end where the memory does.
    fn ending<T: Copy>(values: &[T]) -> Placed<T> {
        let bytes = size_of_val(values);
        let fenced = Fenced::new(bytes.div_ceil(Self::PAGE).max(1));
        // SAFETY: there is room for them before the end, where any type is aligned whose size is a multiple of its alignment.
        let place = unsafe { fenced.pages.add(Self::PAGE + fenced.length - bytes).cast::<T>() };
        // SAFETY: as above, and nothing refers to it yet.
        unsafe { place.copy_from_nonoverlapping(NonNull::from(values).cast(), values.len()) };
        Placed { place, length: values.len(), _fenced: fenced }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: what is between the pages, which is this one's alone.
        unsafe { std::slice::from_raw_parts(self.pages.add(Self::PAGE).as_ptr(), self.length) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.pages.add(Self::PAGE).as_ptr(), self.length) }
    }

    /// For each length a message that ends at the end and one that begins at the beginning.
    fn messages(&self, lengths: impl IntoIterator<Item = usize>) -> Vec<&[u8]> {
        let bytes = self.bytes();
        lengths.into_iter().flat_map(|length| [&bytes[bytes.len() - length..], &bytes[..length]]).collect()
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: what was mapped, which nothing refers to any more.
        unsafe { munmap(self.pages.cast(), self.length + 2 * Self::PAGE).expect("it was mapped") };
    }
}

/// Values that end where a page begins that cannot be touched.
struct Placed<T> {
    place: NonNull<T>,
    length: usize,
    _fenced: Fenced,
}

impl<T> Placed<T> {
    fn get(&self) -> &[T] {
        // SAFETY: so many values were written there, and the memory is this one's.
        unsafe { std::slice::from_raw_parts(self.place.as_ptr(), self.length) }
    }

    fn get_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.place.as_ptr(), self.length) }
    }
}

/// Every length up to a few blocks, and some around longer ones.
fn lengths() -> impl Iterator<Item = usize> + Clone {
    (0..=300).chain([511, 512, 513, 1000, 4095, 4096, 4097, 20_000, 65_535, 65_536, 131_071, 131_072])
}

/// The lengths of messages of few blocks, more of each than any tier has lanes.
fn short_lengths() -> impl Iterator<Item = usize> {
    (0..=130).flat_map(|length| std::iter::repeat_n(length, 20))
}

/// The same bytes, elsewhere.
fn copy(message: &[u8]) -> Vec<u8> {
    message.to_vec()
}

fn copies(messages: &[&[u8]]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| copy(message)).collect()
}

fn due(algorithm: Algorithm, messages: &[&[u8]]) -> Vec<Digest> {
    messages.iter().map(|message| digest(algorithm, copy(message))).collect()
}

#[test]
fn one_message() {
    let fenced = Fenced::noise(2);
    for &algorithm in Algorithm::ALL {
        for message in fenced.messages(lengths()) {
            assert_eq!(digest(algorithm, message), digest(algorithm, copy(message)));
        }
    }
}

#[test]
fn batches() {
    let fenced = Fenced::noise(2);
    let all = fenced.messages(lengths());
    let short = fenced.messages(short_lengths());
    for &algorithm in Algorithm::ALL {
        for messages in [&all, &short] {
            let due = due(algorithm, messages);
            assert_eq!(digest_many(algorithm, messages), due);
            // As many as fill no lanes, and lanes that are not all filled.
            for few in [1, 2, 3, 5, 9, 17, 33] {
                for (messages, due) in messages.chunks(few).zip(due.chunks(few)).step_by(7) {
                    assert_eq!(digest_many(algorithm, messages), due);
                }
            }
            for threads in [1, 2] {
                let batch = Batch::new(algorithm).threads(NonZeroUsize::new(threads));
                let width = algorithm.digest_bytes();
                let mut packed = Fenced::ending(&vec![0_u8; messages.len() * width]);
                batch.digest_many_packed_into(messages, packed.get_mut()).expect("room for all");
                let packed: Vec<&[u8]> = packed.get().chunks_exact(width).collect();
                assert_eq!(packed, due.iter().map(Digest::as_bytes).collect::<Vec<_>>());
            }
        }
    }
}

/// A column against the same column elsewhere: binary and hexadecimal, salted, under a key, into outputs that end at a page.
fn check_column(column: &Column, copy: &Column) {
    assert_eq!(column.len(), copy.len());
    for &algorithm in Algorithm::ALL {
        let plain = |threads| Batch::new(algorithm).threads(NonZeroUsize::new(threads));
        for batch in [plain(1), plain(2), plain(1).key("key"), plain(2).salt("before", "after")] {
            for encoding in [Encoding::Binary, Encoding::Hex] {
                let mut digests = Fenced::ending(&vec![0; column.len() * encoding.width(algorithm)]);
                batch.digest_column_into(column, encoding, digests.get_mut()).expect("room for all");
                assert!(digests.get() == batch.digest_column(copy, encoding), "{batch:?}");
            }
        }
    }
}

/// The rows of columns, more than a group of short ones, with nulls in between.
fn rows() -> Vec<usize> {
    (0..500).map(|i| i * 7 % 150).chain([300, 5000, 0, 12, 13]).collect()
}

fn validity(rows: usize) -> Vec<u8> {
    (0..rows.div_ceil(8)).map(|i| [0xff, 0xa7, 0x00, 0x7f][i % 4]).collect()
}

#[test]
fn columns_with_offsets() {
    fn check<O: manyhash::Offset>(values: &[u8], offsets: &[O]) {
        let copy = copy(values);
        let bits = validity(offsets.len());
        let (values, offsets, validity) = (Fenced::ending(values), Fenced::ending(offsets), Fenced::ending(&bits));
        let column = Column::binary(values.get(), offsets.get()).expect("they fit");
        let copied = Column::binary(&copy, offsets.get()).expect("they fit");
        check_column(&column, &copied);
        for offset in [0, 1] {
            check_column(
                &column.with_validity(validity.get(), offset).expect("enough bits"),
                &copied.with_validity(&bits, offset).expect("enough bits"),
            );
        }
    }
    let rows = rows();
    let mut ends = vec![0];
    rows.iter().for_each(|row| ends.push(ends[ends.len() - 1] + row));
    let values = bytes(ends[ends.len() - 1]);
    check::<i32>(&values, &ends.iter().map(|end| *end as i32).collect::<Vec<_>>());
    check::<i64>(&values, &ends.iter().map(|end| *end as i64).collect::<Vec<_>>());
}

#[test]
fn columns_of_one_width() {
    for width in [1, 4, 16, 20, 55, 56, 64, 119, 128, 200, 1000] {
        let copy = bytes(width * 300);
        let values = Fenced::ending(&copy);
        let column = Column::fixed(values.get(), width).expect("whole rows");
        check_column(&column, &Column::fixed(&copy, width).expect("whole rows"));
        // As rows that begin after a page.
        let mut fenced = Fenced::new(5);
        fenced.bytes_mut()[..copy.len()].copy_from_slice(&copy);
        let column = Column::fixed(&fenced.bytes()[..copy.len()], width).expect("whole rows");
        check_column(&column, &Column::fixed(&copy, width).expect("whole rows"));
    }
}

#[test]
fn columns_of_views() {
    let rows = rows();
    let data = bytes(6000);
    // Each row ends with the first buffer, or begins with the second one.
    let view = |(i, length): (usize, &usize)| -> [u8; 16] {
        let mut view = [0; 16];
        view[..4].copy_from_slice(&(*length as u32).to_le_bytes());
        if *length <= 12 {
            view[4..4 + length].copy_from_slice(&data[i..i + length]);
            return view;
        }
        let (buffer, start) = (i % 2, if i % 2 == 0 { data.len() - length } else { 0 });
        view[4..8].copy_from_slice(&data[start..start + 4]);
        view[8..12].copy_from_slice(&(buffer as u32).to_le_bytes());
        view[12..].copy_from_slice(&(start as u32).to_le_bytes());
        view
    };
    let views: Vec<[u8; 16]> = rows.iter().enumerate().map(view).collect();
    let mut beginning = Fenced::new(1);
    beginning.bytes_mut()[..data.len()].copy_from_slice(&data);
    let ending = Fenced::ending(&data);
    let placed = Fenced::ending(&views);
    let (buffers, copies) = ([ending.get(), &beginning.bytes()[..data.len()]], [&data[..], &data]);
    let column = Column::views(placed.get(), &buffers).expect("they fit");
    check_column(&column, &Column::views(&views, &copies).expect("they fit"));
    let bits = validity(views.len());
    let validity = Fenced::ending(&bits);
    check_column(
        &Column::views_with_validity(placed.get(), &buffers, validity.get(), 0).expect("they fit"),
        &Column::views_with_validity(&views, &copies, &bits, 0).expect("they fit"),
    );
}

#[test]
fn keys_and_messages_of_hmac() {
    let fenced = Fenced::noise(2);
    let messages = fenced.messages(lengths());
    let copied = copies(&messages);
    for &algorithm in Algorithm::ALL {
        for key in fenced.messages([0, 1, 63, 64, 65, 127, 128, 129, 1000]) {
            let batch = Batch::new(algorithm).key(key);
            let tags = batch.digest_many(&messages);
            assert_eq!(tags, Batch::new(algorithm).key(copy(key)).digest_many(&copied));
            assert_eq!(batch.digest(messages[400]), tags[400]);
        }
    }
}

#[test]
fn passwords_and_salts() {
    let fenced = Fenced::noise(1);
    let passwords = fenced.messages([0, 1, 20, 63, 64, 65, 127, 128, 129, 200]);
    let salts = fenced.messages([8, 16, 0, 47, 48, 55, 56, 111, 112, 500]);
    let pairs: Vec<(&[u8], &[u8])> = passwords.iter().copied().zip(salts.iter().copied()).collect();
    let copies: Vec<_> = pairs.iter().map(|(password, salt)| (copy(password), copy(salt))).collect();
    let iterations = NonZeroU32::new(3).expect("it is not 0");
    for &algorithm in Algorithm::ALL {
        let keys = pbkdf2_many(algorithm, &pairs, iterations, 100).expect("a length");
        assert_eq!(keys, pbkdf2_many(algorithm, &copies, iterations, 100).expect("a length"));
    }
}

#[test]
fn levels_of_merkle_trees() {
    for parents in [0, 1, 2, 7, 8, 15, 16, 17, 33, 64, 1000, 5000] {
        let nodes: Vec<Node> = bytes(parents * 64).chunks_exact(32).map(|node| node.try_into().expect("32")).collect();
        let mut due = vec![Node::default(); parents];
        merkle::parents(&nodes, &mut due).expect("two each");
        let (mut level, mut found) = (Fenced::ending(&nodes), Fenced::ending(&vec![Node::default(); parents]));
        merkle::parents(level.get(), found.get_mut()).expect("two each");
        assert_eq!(found.get(), due);
        assert_eq!(merkle::parents_in_place(level.get_mut()).expect("two each"), due);
    }
}

#[test]
fn salts_and_salted_messages() {
    let fenced = Fenced::noise(2);
    let messages = fenced.messages(lengths());
    let copied = copies(&messages);
    for &algorithm in Algorithm::ALL {
        for salt in fenced.messages([0, 1, 55, 64, 129]) {
            let salted = Batch::new(algorithm).salt(salt, salt).digest_many(&messages);
            assert_eq!(salted, Batch::new(algorithm).salt(copy(salt), copy(salt)).digest_many(&copied));
        }
    }
}

#[test]
fn hashers_alone_and_together() {
    let fenced = Fenced::noise(2);
    let chunks = fenced.messages(lengths());
    for &algorithm in Algorithm::ALL {
        for before in [0, 1, 55, 63, 64, 127] {
            let begun = |_| {
                let mut hasher = Hasher::new(algorithm);
                hasher.update(&fenced.bytes()[fenced.length - before..]);
                hasher
            };
            let mut alone: Vec<Hasher> = chunks.iter().map(begun).collect();
            let mut together = alone.clone();
            alone.iter_mut().zip(&chunks).for_each(|(hasher, chunk)| hasher.update(chunk));
            update_many(together.iter_mut().zip(chunks.iter().copied()));
            for ((alone, together), chunk) in alone.into_iter().zip(together).zip(&chunks) {
                let due = digest(algorithm, [&fenced.bytes()[fenced.length - before..], chunk].concat());
                assert_eq!((alone.finalize(), together.finalize()), (due, due), "{before}, {}", chunk.len());
            }
        }
    }
}

/// A message that the engine keeps.
struct Kept {
    fenced: std::sync::Arc<Fenced>,
    length: usize,
    is_end: bool,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        self.fenced.messages([self.length])[usize::from(!self.is_end)]
    }
}

#[test]
fn messages_and_streams_of_the_engine() {
    let fenced = std::sync::Arc::new(Fenced::noise(2));
    let kept = |(i, length)| Kept { fenced: fenced.clone(), length, is_end: i % 2 == 0 };
    let messages = || lengths().flat_map(|length| [length, length]).enumerate().map(kept);
    let engine = Engine::builder().threads(NonZeroUsize::new(2)).build().expect("threads");
    for &algorithm in Algorithm::ALL {
        let due: Vec<Digest> = messages().map(|message| digest(algorithm, copy(message.as_ref()))).collect();
        let one_by_one: Vec<_> = messages().map(|message| engine.digest(algorithm, message)).collect();
        let one_by_one: Vec<Digest> = one_by_one.into_iter().map(|digest| digest.wait().expect("a digest")).collect();
        assert_eq!(one_by_one, due);
        let together = engine.digest_many(algorithm, messages().collect()).wait().expect("digests");
        assert_eq!(together, due);
        let streams: Vec<Digest> = messages()
            .map(|message| {
                let mut stream = engine.stream(algorithm);
                let (length, is_end) = (message.length, message.is_end);
                stream.write(message).wait().expect("it takes bytes");
                stream.write(kept((usize::from(!is_end), length))).wait().expect("it takes bytes");
                stream.finish().wait().expect("a digest")
            })
            .collect();
        let twice = |message: Kept| digest(algorithm, [message.as_ref(), message.as_ref()].concat());
        assert_eq!(streams, messages().map(twice).collect::<Vec<_>>());
    }
}
