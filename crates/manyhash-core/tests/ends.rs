//! The ends of messages, alone and in lanes: every length and any bytes, nothing read that is not the message's.

use manyhash_core::family::{MAX_BLOCK_BYTES, MAX_DIGEST_BYTES};
use manyhash_core::padding::Padding;
use manyhash_core::short::MAX_SHORT_BYTES;
use manyhash_core::{Backend, Kernel, Kernels, State, Word};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Any bytes: SplitMix64, by S. Vigna.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn state<F: Kernels>(&mut self) -> State<F> {
        let mut state = F::zero();
        for word in state.as_mut().iter_mut().take(F::STATE_WORDS) {
            *word = F::Word::read(true, &self.next().to_le_bytes()[..F::Word::BYTES]);
        }
        state
    }
}

/// Bytes between two pages that cannot be touched.
#[cfg(unix)]
struct Fenced {
    pages: std::ptr::NonNull<u8>,
}

#[cfg(unix)]
impl Fenced {
    /// Of the largest page that systems have.
    const PAGE: usize = 64 << 10;

    fn new() -> Self {
        use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, mprotect};
        let bytes = (3 * Self::PAGE).try_into().expect("it is not 0");
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: new memory, and of it what nobody uses yet.
        let pages = unsafe {
            let pages = mmap_anonymous(None, bytes, protection, MapFlags::MAP_PRIVATE).expect("there is memory");
            mprotect(pages, Self::PAGE, ProtFlags::PROT_NONE).expect("it can be taken back");
            mprotect(pages.byte_add(2 * Self::PAGE), Self::PAGE, ProtFlags::PROT_NONE).expect("it can be taken back");
            pages.cast()
        };
        let mut fenced = Fenced { pages };
        let mut noise = Noise(1);
        fenced.bytes().fill_with(|| noise.next() as u8);
        fenced
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the page in the midst, which is this one's alone.
        unsafe { std::slice::from_raw_parts_mut(self.pages.add(Self::PAGE).as_ptr(), Self::PAGE) }
    }
}

#[cfg(unix)]
impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: what was mapped, which nobody refers to any more.
        unsafe { nix::sys::mman::munmap(self.pages.cast(), 3 * Self::PAGE).expect("it was mapped") };
    }
}

/// What one who cannot be fenced has.
#[cfg(not(unix))]
struct Fenced(Vec<u8>);

#[cfg(not(unix))]
impl Fenced {
    fn new() -> Self {
        let mut noise = Noise(1);
        Fenced((0..64 << 10).map(|_| noise.next() as u8).collect())
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

fn portable<F: Kernels>() -> Kernel<F> {
    let backend = Backend::named("portable").expect("every CPU has it");
    F::kernels(backend).iter().find(|kernel| kernel.lanes() == 1).expect("a kernel of one lane")
}

/// The digest of a message's end by padding that a reader can check, and the plainest kernel.
fn due<F: Kernels>(start: &State<F>, end: &[u8], length: u128) -> Vec<u8> {
    let (first, field) = match F::PADDING {
        Padding::Length => (0x80, 2 * F::Word::BYTES),
        Padding::Sponge { first } => (first, 0),
    };
    let mut padded = [end, &[first]].concat();
    while (padded.len() + field) % F::BLOCK_BYTES != 0 {
        padded.push(0);
    }
    let bits = length.wrapping_mul(8);
    if field == 0 {
        *padded.last_mut().expect("a block") |= 0x80;
    } else if F::BIG_ENDIAN {
        padded.extend_from_slice(&bits.to_be_bytes()[16 - field..]);
    } else {
        padded.extend_from_slice(&bits.to_le_bytes()[..field]);
    }
    let mut state = *start;
    portable::<F>().compress_one(&mut state, &padded, padded.len() / F::BLOCK_BYTES);
    F::digest(&state)[..(F::STATE_WORDS * F::Word::BYTES).min(MAX_DIGEST_BYTES)].to_vec()
}

/// So many bytes at either end of the page, and in its midst, where no word is aligned.
fn places(bytes: &[u8], length: usize) -> [&[u8]; 3] {
    [&bytes[bytes.len() - length..], &bytes[..length], &bytes[bytes.len() / 2 - length / 2..][..length]]
}

fn panics<T>(action: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(action)).is_err()
}

/// Calls a generic function with every family.
macro_rules! each_family {
    ($test:ident) => {
        manyhash_core::families!(each_family $test @)
    };
    ($test:ident @ $($family:ident $($arch:literal $module:ident::$file:ident)*;)*) => {
        $($test::<manyhash_core::$family>();)*
    };
}

#[test]
fn short_messages_alone() {
    fn test<F: Kernels>() {
        let (mut fenced, mut noise) = (Fenced::new(), Noise(2));
        let bytes = &*fenced.bytes();
        let kernels = Backend::available().flat_map(|backend| F::kernels(backend).short().collect::<Vec<_>>());
        let (alone, several): (Vec<_>, Vec<_>) = kernels.partition(|kernel| kernel.lanes() == 1);
        for kernel in alone {
            for length in (0..=300).chain([4095, 4096]) {
                for message in places(bytes, length) {
                    let most = (MAX_SHORT_BYTES - 1 - length) / F::BLOCK_BYTES * F::BLOCK_BYTES;
                    for before in [0, F::BLOCK_BYTES, most] {
                        let start = noise.state::<F>();
                        let digest = kernel.hash_one(&start, before, message);
                        let due = due::<F>(&start, message, (before + length) as u128);
                        assert_eq!(digest[..due.len()], due, "`{}`: {length} bytes after {before}", kernel.name());
                    }
                }
            }
            let start = F::zero();
            assert!(panics(|| kernel.hash_one(&start, 1, b"")), "no whole block before");
            assert!(panics(|| kernel.hash_one(&start, MAX_SHORT_BYTES, b"")), "too many before");
            let before = MAX_SHORT_BYTES - F::BLOCK_BYTES;
            assert!(panics(|| kernel.hash_one(&start, before, &bytes[..F::BLOCK_BYTES])), "too many together");
        }
        for kernel in several {
            assert!(panics(|| kernel.hash_one(&F::zero(), 0, b"")), "`{}` has lanes", kernel.name());
        }
    }
    each_family!(test);
}

#[test]
fn ends_of_messages_alone() {
    fn test<F: Kernels>() {
        let (mut fenced, mut noise) = (Fenced::new(), Noise(3));
        let bytes = &*fenced.bytes();
        let most = 2 * MAX_BLOCK_BYTES / F::BLOCK_BYTES * F::BLOCK_BYTES - F::PADDING_BYTES;
        for backend in Backend::available() {
            for kernel in F::kernels(backend).iter().filter(|kernel| kernel.lanes() == 1) {
                for length in 0..=most {
                    for end in places(bytes, length) {
                        // The upper word of a length, and lengths beyond what RFC 1321 keeps.
                        for before in [0, 1 << 28, 1 << 29, 1 << 32, 1 << 61, !0 << 8] {
                            let (start, length) = (noise.state::<F>(), (length as u128).wrapping_add(before));
                            let digest = kernel.finish_one(&start, end, length);
                            let due = due::<F>(&start, end, length);
                            assert_eq!(digest[..due.len()], due, "{backend}, `{}`: {length} bytes", kernel.name());
                        }
                    }
                }
                assert!(panics(|| kernel.finish_one(&F::zero(), &bytes[..=most], 0)), "too long");
            }
        }
    }
    each_family!(test);
}

/// Every width of rows, and rows at either end of a page as well.
#[test]
fn short_messages_in_lanes() {
    fn test<F: Kernels>() {
        let (mut fenced, mut noise, mut rows) = (Fenced::new(), Noise(4), Fenced::new());
        let (bytes, rows) = (&*fenced.bytes(), rows.bytes());
        for backend in Backend::available() {
            for kernel in F::kernels(backend).short() {
                let lanes = kernel.lanes();
                for (length, width) in (0..=140).flat_map(|length| [16, 32, 48, 64, 80].map(|width| (length, width))) {
                    let start = noise.state::<F>();
                    // In no lane always the same place, however many lanes there are.
                    let place = |i: usize| (i + i / 3) % 3;
                    let places = places(bytes, length);
                    let messages: Vec<&[u8]> = (0..2 * lanes + 1).map(|i| places[place(i)]).collect();
                    let dues = places.map(|message| due::<F>(&start, message, (F::BLOCK_BYTES + length) as u128));
                    let end = rows.len();
                    for range in [0..messages.len() * width, end - messages.len() * width..end] {
                        let rows = &mut rows[range];
                        assert_eq!(kernel.hash(&start, F::BLOCK_BYTES, &messages, width, rows), Ok(()));
                        let kept = dues[0].len().min(width);
                        for (i, row) in rows.chunks(width).enumerate() {
                            assert!(
                                row[..kept] == dues[place(i)][..kept],
                                "{backend}, `{}`: {length} bytes, rows of {width}, row {i}",
                                kernel.name()
                            );
                        }
                    }
                }
            }
        }
    }
    each_family!(test);
}

/// Whole blocks at either end of a page, of any bytes, through every kernel.
#[test]
fn whole_blocks_at_the_ends_of_pages() {
    fn test<F: Kernels>() {
        let (mut fenced, mut noise) = (Fenced::new(), Noise(5));
        let bytes = &*fenced.bytes();
        for backend in Backend::available() {
            for kernel in F::kernels(backend).iter() {
                for blocks in 1..=7 {
                    let messages: Vec<&[u8]> = (0..kernel.lanes())
                        .flat_map(|_| places(bytes, blocks * F::BLOCK_BYTES))
                        .take(kernel.lanes())
                        .collect();
                    let mut states = manyhash_core::LaneStates::<F>::default();
                    let starts: Vec<State<F>> = messages.iter().map(|_| noise.state::<F>()).collect();
                    starts.iter().enumerate().for_each(|(lane, start)| states.set(lane, start));
                    kernel.compress(&mut states, 0, &messages, blocks);
                    for (lane, (start, message)) in starts.iter().zip(&messages).enumerate() {
                        let mut due = *start;
                        portable::<F>().compress_one(&mut due, message, blocks);
                        let (state, due) = (states.get(lane), &due.as_ref()[..F::STATE_WORDS]);
                        assert_eq!(
                            state.as_ref()[..F::STATE_WORDS],
                            *due,
                            "{backend}, `{}`: lane {lane}",
                            kernel.name()
                        );
                    }
                }
            }
        }
    }
    each_family!(test);
}
