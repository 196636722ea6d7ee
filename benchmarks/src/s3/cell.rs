//! What is asked of a server: one operation on bodies of one length, by so many clients at once.

use crate::files::{is_memory, memory_directory};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes in a signed chunk, as most SDKs send them.
pub(crate) const CHUNK: usize = 64 << 10;

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Operation {
    /// Each object under a name of its own
    Put,
    /// Objects that were put before, in turn
    Get,
}

/// What the signature of a request says of its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Signing {
    /// UNSIGNED-PAYLOAD
    Unsigned,
    /// The SHA-256 of the body
    Signed,
    /// Signed chunks of 64 KiB
    Chunks,
}

/// Where the store of a server is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    /// In a tmpfs
    Memory,
    /// In --dir
    Disk,
}

impl Operation {
    pub(crate) fn method(self) -> &'static str {
        match self {
            Operation::Put => "PUT",
            Operation::Get => "GET",
        }
    }
}

/// Where the subjects are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) operation: Operation,
    pub(crate) signing: Signing,
    /// Bytes in a body.
    pub(crate) length: usize,
    pub(crate) clients: usize,
    pub(crate) place: Place,
}

impl Cell {
    pub(crate) const fn put(signing: Signing, length: usize, clients: usize, place: Place) -> Self {
        Cell { operation: Operation::Put, signing, length, clients, place }
    }

    pub(crate) const fn get(length: usize, clients: usize, place: Place) -> Self {
        // A request without a body; its signature is as long with any.
        Cell { operation: Operation::Get, signing: Signing::Unsigned, length, clients, place }
    }

    /// All that is compared.
    pub(crate) fn all() -> Vec<Cell> {
        use Place::{Disk, Memory};
        use Signing::{Chunks, Signed, Unsigned};
        const LONG: [usize; 3] = [64 * KIB, MIB, 10 * MIB];
        let mut cells = vec![
            Cell::put(Unsigned, 4 * KIB, 64, Disk),
            Cell::put(Unsigned, 4 * KIB, 256, Disk),
            Cell::put(Unsigned, 4 * KIB, 64, Memory),
            Cell::put(Signed, 4 * KIB, 64, Memory),
        ];
        for signing in [Unsigned, Signed] {
            cells.extend(LONG.map(|length| Cell::put(signing, length, 64, Memory)));
        }
        cells.extend([64 * KIB, MIB].map(|length| Cell::put(Unsigned, length, 64, Disk)));
        cells.extend(LONG.map(|length| Cell::put(Chunks, length, 1, Memory)));
        cells.extend([4 * KIB, 10 * MIB].map(|length| Cell::put(Unsigned, length, 1, Memory)));
        cells.extend([4 * KIB, 64 * KIB, MIB].map(|length| Cell::get(length, 64, Memory)));
        cells
    }

    /// A few that are over in seconds.
    pub(crate) fn few() -> Vec<Cell> {
        vec![
            Cell::put(Signing::Unsigned, 4 * KIB, 64, Place::Disk),
            Cell::put(Signing::Signed, 64 * KIB, 16, Place::Memory),
            Cell::put(Signing::Chunks, MIB, 1, Place::Memory),
            Cell::get(64 * KIB, 16, Place::Memory),
        ]
    }

    /// How long a sample takes at least, if not quick. Those of long bodies need more, for each client to have a few.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(if self.length * self.clients > 256 * MIB { 8 } else { 3 })
    }

    /// Objects that there are to get.
    pub(crate) fn objects(&self) -> u64 {
        (64 * MIB / self.length).clamp(16, 1024) as u64
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { operation, signing, length, clients, place } = self;
        let signing = match (operation, signing) {
            (Operation::Get, _) => "",
            (_, Signing::Unsigned) => "unsigned ",
            (_, Signing::Signed) => "signed ",
            (_, Signing::Chunks) => "chunks ",
        };
        let (place, plural) = (place.name(), if *clients == 1 { "" } else { "s" });
        write!(f, "{} {}, {signing}{clients} client{plural}, {place}", operation.method(), size(*length))
    }
}

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Memory => "tmpfs",
            Place::Disk => "disk",
        }
    }
}

/// A number of bytes, with a unit.
pub(crate) fn size(bytes: usize) -> String {
    if bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{} KiB", bytes / KIB) }
}

/// The directories that stores are made in.
pub(crate) struct Places {
    /// None if there is no tmpfs.
    memory: Option<&'static Path>,
    disk: PathBuf,
}

impl Places {
    /// With this directory on a disk. Says on standard error if it is not on one.
    pub(crate) fn new(disk: PathBuf) -> Self {
        if is_memory(&disk) {
            eprintln!("manyhash-bench: {} is in memory; name a directory on a disk with --dir", disk.display());
        }
        Places { memory: memory_directory(), disk }
    }

    /// Where there is such a place.
    pub(crate) fn path(&self, place: Place) -> Option<&Path> {
        match place {
            Place::Memory => self.memory,
            Place::Disk => Some(&self.disk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, KIB, MIB, Place, Signing};

    #[test]
    fn cells_say_what_they_are_and_are_not_measured_twice() {
        let names: Vec<String> = Cell::all().iter().map(Cell::to_string).collect();
        assert_eq!(names[0], "PUT 4 KiB, unsigned 64 clients, disk");
        assert!(names.contains(&"GET 1 MiB, 64 clients, tmpfs".to_owned()));
        assert!(names.contains(&"PUT 10 MiB, chunks 1 client, tmpfs".to_owned()));
        assert!(names.iter().enumerate().all(|(i, name)| !names[..i].contains(name)));
    }

    #[test]
    fn there_are_enough_objects_to_get_and_not_too_many() {
        for (length, objects) in [(KIB, 1024), (64 * KIB, 1024), (MIB, 64), (10 * MIB, 16)] {
            assert_eq!(Cell::put(Signing::Unsigned, length, 1, Place::Disk).objects(), objects);
        }
    }
}
