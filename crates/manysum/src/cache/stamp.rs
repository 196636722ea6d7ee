//! By what a version of a file is told from all others.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Ticks of a file system's clock that are too coarse, in nanoseconds: see [`Stamp::of`].
const COARSE: u32 = 10_000_000;

/// A version of a file: as long as all of this is the same, so is the content.
///
/// It rests on the change time, which the system sets at every change and which no program can set back: on some file
/// systems, and not at once, as [`systems`](super::systems) has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: Time,
    pub(super) changed: Time,
}

/// A time by a file system's clock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Time {
    /// Since 1970.
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
}

#[cfg(unix)]
impl Time {
    fn new(seconds: i64, nanoseconds: i64) -> Option<Self> {
        Some(Time { seconds, nanoseconds: nanoseconds.try_into().ok()? })
    }
}

impl Stamp {
    /// Bytes in the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// That of a regular file which is not empty, if it tells its versions apart.
    ///
    /// Empty files are as easily read, and what the system makes up as it is read says that it is empty too.
    ///
    /// Versions are not told apart where the change time counts whole seconds or hundredths. On such file systems (FAT, exFAT, ISO
    /// 9660, squashfs, archives and servers mounted by way of FUSE) inode numbers are often made up anew with each
    /// mount, or the same in each edition of an image, and the times of many files are the same; nothing would be left
    /// to tell one file from another of the same size. It is not worth the few others (ext3, HFS+) to know them all.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let modified = Time::new(metadata.mtime(), metadata.mtime_nsec())?;
        let changed = Time::new(metadata.ctime(), metadata.ctime_nsec())?;
        let (device, inode, size) = (metadata.dev(), metadata.ino(), metadata.size());
        Some(Stamp { device, inode, size, modified, changed }).filter(|stamp| metadata.is_file() && stamp.tells())
    }

    /// The same of what Linux says.
    #[cfg(target_os = "linux")]
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Option<Self> {
        let modified = Time::new(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).ok()?)?;
        let changed = Time::new(stat.st_ctime, i64::try_from(stat.st_ctime_nsec).ok()?)?;
        let size = u64::try_from(stat.st_size).ok()?;
        let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
        let stamp = Stamp { device: stat.st_dev, inode: stat.st_ino, size, modified, changed };
        Some(stamp).filter(|stamp| is_file && stamp.tells())
    }

    /// Whether it tells a version from others.
    #[cfg(unix)]
    fn tells(&self) -> bool {
        self.size > 0 && !self.changed.nanoseconds.is_multiple_of(COARSE)
    }

    /// Without inodes and change times there are none.
    #[cfg(not(unix))]
    pub fn of(_metadata: &Metadata) -> Option<Self> {
        None
    }

    /// Whether a scan that began then would see any later change of the file in its times, if it sees those that come so
    /// long after the last.
    pub(super) fn is_settled(&self, scan: SystemTime, age: Duration) -> bool {
        let Ok(since) = scan.duration_since(UNIX_EPOCH + age) else { return false };
        let latest = Time { seconds: since.as_secs().cast_signed(), nanoseconds: since.subsec_nanos() };
        self.modified < latest && self.changed < latest
    }
}

#[cfg(test)]
mod tests {
    use super::{Stamp, Time};
    use std::time::{Duration, UNIX_EPOCH};

    const AGE: Duration = Duration::from_secs(2);

    fn stamp(modified: (i64, u32), changed: (i64, u32)) -> Stamp {
        let time = |(seconds, nanoseconds)| Time { seconds, nanoseconds };
        Stamp { device: 1, inode: 2, size: 3, modified: time(modified), changed: time(changed) }
    }

    #[test]
    fn a_file_as_young_as_the_scan_is_not_settled() {
        let scan = UNIX_EPOCH + Duration::new(1000, 500);
        for (times, is_settled) in [
            (((10, 0), (998, 499)), true),
            (((998, 499), (10, 0)), true),
            (((-1, 0), (10, 0)), true),
            (((10, 0), (998, 500)), false),
            (((998, 500), (10, 0)), false),
            (((10, 0), (1000, 500)), false),
            // A clock that was wrong.
            (((10, 0), (5000, 0)), false),
            (((5000, 0), (10, 0)), false),
        ] {
            assert_eq!(stamp(times.0, times.1).is_settled(scan, AGE), is_settled, "{times:?}");
        }
        assert!(!stamp((-9, 0), (-9, 0)).is_settled(UNIX_EPOCH + AGE - Duration::from_nanos(1), AGE));
    }

    #[test]
    #[cfg(unix)]
    fn files_and_their_versions() {
        use std::fs::{self, File};
        let directory = tempfile::tempdir().expect("a directory");
        let of = |name: &str| Stamp::of(&fs::metadata(directory.path().join(name)).expect("it is there"));
        for name in ["a", "b"] {
            fs::write(directory.path().join(name), "x").expect("a file");
        }
        let (Some(a), Some(b)) = (of("a"), of("b")) else {
            eprintln!("skipped: the clock of this file system is coarse");
            return;
        };
        assert_ne!(a, b);
        assert_eq!(of("a"), Some(a));
        fs::write(directory.path().join("empty"), "").expect("a file");
        assert_eq!((of("."), of("empty")), (None, None));
        // A change that takes care to leave size and modification time.
        let file = File::options().write(true).open(directory.path().join("a")).expect("a file");
        std::thread::sleep(Duration::from_millis(20));
        fs::write(directory.path().join("a"), "y").expect("a file");
        file.set_modified(UNIX_EPOCH + Duration::new(a.modified.seconds as u64, a.modified.nanoseconds)).expect("set");
        let again = of("a").expect("a regular file");
        assert_eq!((again.size, again.modified), (a.size, a.modified));
        assert_ne!(again, a);
    }
}
