//! Messages of more than 4 GiB: no length, offset or number of bits is cut off at 32 bits.
//!
//! Every due digest is printed by coreutils. Streams are fed the same chunk again and again; where a slice that long is
//! needed, it is memory that was hardly ever written to.

use manyhash::{Algorithm, Backend, Hasher, update_many};

const CHUNK: usize = 1 << 20;
const FOUR_GIB: u64 = 4 << 30;

/// Whether a tier is forced that is lower than the CPU's best.
///
/// Streams are tested with the best only. What counts their bytes is the same code for every tier, and a kernel gets no
/// more than a chunk of them at a time.
fn lower_tier() -> bool {
    manyhash::backend().expect("a backend of this CPU") != Backend::detect()
}

/// Streams 4 GiB and 3 bytes of zeros.
fn check_hasher(algorithm: Algorithm, due: &str) {
    if lower_tier() {
        return;
    }
    let chunk = vec![0; CHUNK];
    let mut hasher = Hasher::new(algorithm);
    // From here on every chunk ends one block and begins another.
    hasher.update(&chunk[..3]);
    for _ in 0..FOUR_GIB / CHUNK as u64 {
        hasher.update(&chunk);
    }
    assert_eq!(hasher.finalize().to_hex(), due, "{algorithm}");
}

// A test for each family, so that they share the cores: head -c 4294967299 /dev/zero | md5sum, and so on.

#[test]
fn md5_in_pieces_alone() {
    check_hasher(Algorithm::Md5, "4ca27e0aa2e7592739ca3de160d1c3a6");
}

#[test]
fn sha1_in_pieces_alone() {
    check_hasher(Algorithm::Sha1, "c2a34e434ebc0e21d10d44c2c778b2dc631c16db");
}

#[test]
fn sha256_in_pieces_alone() {
    check_hasher(Algorithm::Sha256, "930fa067940ff8d9f427e3a116b7598503c70ce7380d66ff65f8de33d558f7f3");
}

#[test]
fn sha512_in_pieces_alone() {
    check_hasher(
        Algorithm::Sha512,
        "c70898d877cc90bf09f45a1fef9ed3edffbbb7135e83fdd02f346730d09b940d\
         7aa0c4f0cb89c8a72201aa97622a3cf975d67d6dbd4ba52e80a671fb18bf189d",
    );
}

#[test]
fn md5_in_pieces_side_by_side() {
    if lower_tier() {
        return;
    }
    // head -c 4294967299 /dev/zero | md5sum, and so on.
    let lengths_and_due = [
        (FOUR_GIB + 3, "4ca27e0aa2e7592739ca3de160d1c3a6"),
        (FOUR_GIB + 64, "023258fcb1855ab326e9a40604531802"),
        (FOUR_GIB + 120, "40d7dffba97aae15e1bf1ff4c8f73985"),
        (FOUR_GIB + (1 << 20), "bb5f534251d9b95ad40b14d16f88f709"),
    ];
    let chunk = vec![0; CHUNK];
    let mut hashers = vec![Hasher::new(Algorithm::Md5); lengths_and_due.len()];
    let mut left = lengths_and_due.map(|(length, _)| length);
    while left.iter().any(|left| *left > 0) {
        let chunks = left.map(|left| &chunk[..left.min(CHUNK as u64) as usize]);
        update_many(hashers.iter_mut().zip(chunks));
        left = std::array::from_fn(|i| left[i] - chunks[i].len() as u64);
    }
    for (hasher, (length, due)) in hashers.into_iter().zip(lengths_and_due) {
        assert_eq!(hasher.finalize().to_hex(), due, "{length} bytes");
    }
}

/// Slices that long exist where addresses have 64 bits, and cost no memory where pages that are only read share one
/// page of zeros, as on Linux. These run in every tier, because here the kernels themselves count beyond 32 bits; MD5
/// in lanes and SHA-256 alone only, because forced to a low tier the others take long.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod in_memory {
    use super::{Algorithm, FOUR_GIB};
    use manyhash::{Batch, digest};
    use std::num::NonZeroUsize;

    /// `m() { printf first; head -c 4294967291 /dev/zero; printf '%0200d' 0 | tr 0 x; }`
    ///
    /// Marked at both ends, so that an offset that wrapped around would read something else. There are whole blocks
    /// beyond 4 GiB, because only those are read by kernels where they lie.
    fn message() -> Vec<u8> {
        let mut message = vec![0; FOUR_GIB as usize + 200];
        message[..5].copy_from_slice(b"first");
        message[FOUR_GIB as usize..].fill(b'x');
        message
    }

    /// The most memory that this process ever had resident is small.
    fn check_memory() {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells a process its memory");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        let peak: u64 = peak.and_then(|peak| peak.parse().ok()).expect("a line `VmHWM: <number> kB`");
        assert!(peak < 200 << 10, "{peak} KiB were resident, though hashing copies no message");
    }

    #[test]
    fn md5_side_by_side() {
        let message = message();
        let messages = [&message[..], &message[1..], &message[2..]];
        // On one thread, so that all three are in its lanes.
        let digests = Batch::new(Algorithm::Md5).threads(NonZeroUsize::MIN).digest_many(&messages);
        // m | md5sum; m | tail -c +2 | md5sum; m | tail -c +3 | md5sum
        assert_eq!(digests[0].to_hex(), "1c42ce559b1a90a4d22d7e479d93d790");
        assert_eq!(digests[1].to_hex(), "887273b995c853a22e4e88ba0d7578f0");
        assert_eq!(digests[2].to_hex(), "3f0769f99f12c2505b79c47bc186e888");
        check_memory();
    }

    #[test]
    fn sha256_alone() {
        // m | sha256sum
        let due = "12d88eba30638c1b83d4c19a7cee8f79d35a5422b86ecbe0c8a5475a9b386546";
        assert_eq!(digest(Algorithm::Sha256, message()).to_hex(), due);
        check_memory();
    }
}

/// As many bytes as the kernels for short messages take, one fewer and one more, on every tier: beyond, the ends of messages
/// are padded elsewhere. `head -c 268435455 /dev/zero | md5sum`, and so on.
#[test]
fn ends_beside_a_quarter_of_a_gib() {
    const DUE: [(Algorithm, [&str; 3]); 5] = [
        (
            Algorithm::Md5,
            [
                "11049ccfce66d876d2620c8f53c3762f",
                "1f5039e50bd66b290c56684d8550c6c2",
                "db1f21c16a6188c59dd465b377432c1a",
            ],
        ),
        (
            Algorithm::Sha1,
            [
                "32b3f092eec7fa3142a1d0388f7278109104c552",
                "7b91dbdc56c5781edf6c8847b4aa6965566c5c75",
                "16f790e7be6400ab88fe0ecaa4161e075f3ffa18",
            ],
        ),
        (
            Algorithm::Sha224,
            [
                "cda35147ec0becc66d586f09671edca75e08890ad6a67a182b321c3f",
                "b25205b939774de0c2b6d840c74f2874ee30bb2d12a26f72d3a32bf5",
                "4a91005c64bbf99fc958e790267950e564102b2412ee1b495d83a920",
            ],
        ),
        (
            Algorithm::Sha256,
            [
                "27a96dec923fd3692eb0ea6fda07cecd6a84ccb3339c5bdca607e6773071b664",
                "a6d72ac7690f53be6ae46ba88506bd97302a093f7108472bd9efc3cefda06484",
                "da6ce8755151acd05195db67ebce3ee0fb5f4012e71e821cc5750f3304eaf41e",
            ],
        ),
        (
            Algorithm::Sha512,
            [
                "4268b3c5907d008d3db0699bd73c405440495de6f6ca3172cad2bdb47c4d9daea4a2409db54ad54a4b0ccec9235ec64d7fd03fa6e22a08d27a49dfd8a3d4623c",
                "24078827a9a954d8be723eb76b658bf484146d67a47d6f660c72bc641e19a83e6c38099559e7ce76a9640d25f242d89f69e54fc235e1532804395aaf3fb3d671",
                "819eb1fb03979a8b0a4fc0f5e9fc601e778af6f35290e09a9607a26bd93aa48e9c7b3361b8f357233898e2fa9434896df00bf8483971e4944eb49bb30e9ea14d",
            ],
        ),
    ];
    let chunk = vec![0; CHUNK];
    for (algorithm, due) in DUE {
        let mut hasher = Hasher::new(algorithm);
        (0..255).for_each(|_| hasher.update(&chunk));
        hasher.update(&chunk[1..]);
        for due in due {
            assert_eq!(hasher.clone().finalize().to_hex(), due, "{algorithm}");
            hasher.update(&chunk[..1]);
        }
    }
}
