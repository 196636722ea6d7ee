//! What fuzz targets do with records.

use super::{CHECKSUM, Digests, checksum, merged, record};
use crate::cache::stamp::{Stamp, Time};

const FILE: Stamp = Stamp {
    device: 1,
    inode: 2,
    size: 3,
    modified: Time { seconds: 4, nanoseconds: 5 },
    changed: Time { seconds: 6, nanoseconds: 7 },
};

/// Reads these bytes as a record, and as what follows the version in one whose checksum is right.
pub fn cached_record(bytes: &[u8]) {
    let _ = Digests::of(&FILE, bytes).map(Iterator::count);

    let mut whole = vec![0; CHECKSUM];
    whole.extend_from_slice(&FILE.version());
    whole.extend_from_slice(bytes);
    let sum = checksum(&FILE, &whole[CHECKSUM..]);
    whole[..CHECKSUM].copy_from_slice(&sum);
    let digests = Digests::of(&FILE, &whole).expect("its checksum is right");
    for (name, _) in digests {
        let first = Iterator::find(&mut digests.into_iter(), |(other, _)| *other == name);
        assert_eq!(digests.find(name), first.map(|(_, digest)| digest));
    }

    let written = record(&FILE, digests);
    let again = Digests::of(&FILE, &written).expect("it was written just now");
    assert!(again.eq(digests));
    let both = merged(&FILE, &whole, &written).expect("both are of the file");
    let both = Digests::of(&FILE, &both).expect("it was written just now");
    assert!(both.eq(digests), "the old one has nothing new");
}
