//! Known answers of the standards, for the reference and for every kernel: the files in `vectors/`, whose README says
//! what each is.

mod common;

use common::{Lanes, expected, kernels};
use manyhash_core::Algorithm;

/// NIST's files by the name that they begin with, and how many vectors `ShortMsg` and `LongMsg` have.
const NIST: [(Algorithm, &str, usize, usize); 10] = [
    (Algorithm::Sha1, "SHA1", 65, 64),
    (Algorithm::Sha224, "SHA224", 65, 64),
    (Algorithm::Sha256, "SHA256", 65, 64),
    (Algorithm::Sha384, "SHA384", 129, 128),
    (Algorithm::Sha512, "SHA512", 129, 128),
    (Algorithm::Sha512_256, "SHA512_256", 129, 128),
    (Algorithm::Sha3_224, "SHA3_224", 145, 0),
    (Algorithm::Sha3_256, "SHA3_256", 137, 0),
    (Algorithm::Sha3_384, "SHA3_384", 105, 0),
    (Algorithm::Sha3_512, "SHA3_512", 73, 0),
];

/// Other files, and how many vectors they have.
const OTHERS: [(Algorithm, &str, usize); 4] = [
    (Algorithm::Md5, "rfc1321.txt", 7),
    (Algorithm::Keccak256, "keccak256.txt", 256),
    (Algorithm::Sm3, "sm3.txt", 6),
    (Algorithm::Ripemd160, "ripemd160.txt", 8),
];

const MONTE_CARLO_ROUNDS: usize = 100;

/// A message and its digest.
type Vector = (Vec<u8>, Vec<u8>);

/// The `key = value` lines of a file, in order, with `[L = n]` first. Anything else but comments is an error.
fn fields(algorithm: Algorithm, file: &str) -> Vec<(String, String)> {
    let path = format!("{}/../../vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let fields = lines.map(|line| {
        let bare = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or(line);
        let (key, value) = bare.split_once(" = ").unwrap_or_else(|| panic!("{path}: not a field: {line}"));
        (key.to_owned(), value.to_owned())
    });
    let mut fields: Vec<(String, String)> = fields.collect();
    let unit = if file.contains("SHA3_") { 8 } else { 1 };
    assert_eq!(fields.remove(0), ("L".to_owned(), (unit * algorithm.digest_bytes()).to_string()), "{path}");
    fields
}

/// The value of a field that must have this key.
fn value<'a>((key, value): &'a (String, String), expected: &str) -> &'a str {
    assert_eq!(key, expected);
    value
}

fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hexadecimal")).collect()
}

fn digest(algorithm: Algorithm, hex: &str) -> Vec<u8> {
    let digest = bytes(hex);
    assert_eq!(digest.len(), algorithm.digest_bytes(), "{hex}");
    digest
}

/// The vectors of a file of messages.
fn vectors(algorithm: Algorithm, file: &str, count: usize) -> Vec<Vector> {
    let fields = fields(algorithm, file);
    let (vectors, rest) = fields.as_chunks::<3>();
    assert!(rest.is_empty(), "{file}: ends inside a vector");
    let vectors = vectors.iter().map(|[len, msg, md]| {
        let bits: usize = value(len, "Len").parse().expect("a number");
        let mut message = bytes(value(msg, "Msg"));
        // The message of no bits is written as one zero byte.
        assert_eq!(message.len(), (bits / 8).max(1), "{file}: Len = {bits}");
        message.truncate(bits / 8);
        (message, digest(algorithm, value(md, "MD")))
    });
    let vectors: Vec<Vector> = vectors.collect();
    assert_eq!(vectors.len(), count, "{file}");
    vectors
}

/// Every file of messages.
fn messages() -> Vec<(Algorithm, Vec<Vector>)> {
    let mut files: Vec<_> = OTHERS.map(|(algorithm, file, count)| (algorithm, vectors(algorithm, file, count))).into();
    for (algorithm, name, short, long) in NIST {
        files.push((algorithm, vectors(algorithm, &format!("nist/{name}ShortMsg.rsp"), short)));
        if long > 0 {
            files.push((algorithm, vectors(algorithm, &format!("nist/{name}LongMsg.rsp"), long)));
        }
    }
    files
}

/// The seed of a Monte Carlo file, and the digest that ends each round.
fn monte_carlo(algorithm: Algorithm, name: &str) -> (Vec<u8>, Vec<Vec<u8>>) {
    let fields = fields(algorithm, &format!("nist/{name}Monte.rsp"));
    let (seed, rounds) = fields.split_first().expect("a seed");
    let (rounds, rest) = rounds.as_chunks::<2>();
    assert!(rest.is_empty(), "{name}: ends inside a round");
    let digests = rounds.iter().enumerate().map(|(i, [count, md])| {
        assert_eq!(value(count, "COUNT"), i.to_string(), "{name}");
        digest(algorithm, value(md, "MD"))
    });
    let digests: Vec<Vec<u8>> = digests.collect();
    assert_eq!(digests.len(), MONTE_CARLO_ROUNDS, "{name}");
    (digest(algorithm, value(seed, "Seed")), digests)
}

/// SHAVS, figure 1, and SHA3VS, figure 1: the digest that ends each round.
fn monte_carlo_rounds(algorithm: Algorithm, seed: Vec<u8>, mut hash: impl FnMut(&[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
    let before = if algorithm.name().starts_with("sha3-") { 1 } else { 3 };
    let mut seed = seed;
    let rounds = (0..MONTE_CARLO_ROUNDS).map(|_| {
        let mut last = vec![seed.clone(); before];
        for _ in 0..1000 {
            let next = hash(&last.concat());
            last.rotate_left(1);
            last[before - 1] = next;
        }
        seed = last[before - 1].clone();
        seed.clone()
    });
    rounds.collect()
}

#[test]
fn every_algorithm_has_vectors() {
    let files = messages();
    for algorithm in Algorithm::ALL {
        assert!(files.iter().any(|(of, _)| of == algorithm), "{algorithm}");
    }
}

#[test]
fn messages_by_the_reference() {
    for (algorithm, vectors) in messages() {
        for (message, digest) in vectors {
            assert_eq!(expected(algorithm, &message), digest, "{algorithm}, {} bytes", message.len());
        }
    }
}

#[test]
fn messages_by_every_kernel() {
    for (algorithm, vectors) in messages() {
        for mut kernel in kernels(algorithm) {
            for (message, digest) in &vectors {
                let lanes = kernel.lanes();
                let digests = kernel.hash(0, &vec![message.as_slice(); lanes], &[]);
                assert_eq!(digests, vec![digest.as_slice(); lanes], "{}, {} bytes", kernel.name(), message.len());
            }
        }
    }
}

#[test]
fn monte_carlo_by_the_reference() {
    for (algorithm, name, ..) in NIST {
        let (seed, digests) = monte_carlo(algorithm, name);
        assert!(monte_carlo_rounds(algorithm, seed, |message| expected(algorithm, message)) == digests, "{algorithm}");
    }
}

/// By the last kernel of each backend: the test is a chain, which takes as long in one lane as in all of them.
#[test]
fn monte_carlo_by_a_kernel_of_every_backend() {
    for (algorithm, name, ..) in NIST {
        let (seed, digests) = monte_carlo(algorithm, name);
        let mut last: Vec<Box<dyn Lanes>> = Vec::new();
        for kernel in kernels(algorithm) {
            last.retain(|other| other.backend() != kernel.backend());
            last.push(kernel);
        }
        for mut kernel in last {
            let rounds =
                monte_carlo_rounds(algorithm, seed.clone(), |message| kernel.hash(0, &[message], &[]).remove(0));
            assert!(rounds == digests, "{}", kernel.name());
        }
    }
}
