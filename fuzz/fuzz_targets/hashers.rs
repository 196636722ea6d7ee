//! Messages in pieces: each alone, and all together with `update_many`, against the reference.
#![no_main]

use libfuzzer_sys::fuzz_target;
use manyhash::{Hasher, update_many};
use manyhash_fuzz::{algorithm, reference};

/// Messages of algorithms, in pieces.
type Messages = Vec<(u8, Vec<Vec<u8>>)>;

fuzz_target!(|messages: Messages| {
    let begun = || messages.iter().map(|(pick, _)| Hasher::new(algorithm(*pick))).collect::<Vec<_>>();
    let (mut alone, mut together) = (begun(), begun());
    let rounds = messages.iter().map(|(_, pieces)| pieces.len()).max().unwrap_or(0);
    for round in 0..rounds {
        let pieces = || messages.iter().map(|(_, pieces)| pieces.get(round).map(Vec::as_slice));
        for (hasher, piece) in alone.iter_mut().zip(pieces()) {
            hasher.update(piece.unwrap_or_default());
        }
        let some = together.iter_mut().zip(pieces());
        update_many(some.filter_map(|(hasher, piece)| Some((hasher, piece?))));
    }
    for (((pick, pieces), alone), together) in messages.iter().zip(alone).zip(together) {
        let due = reference(algorithm(*pick), &pieces.concat());
        assert_eq!((alone.finalize(), together.finalize()), (due, due));
    }
});
