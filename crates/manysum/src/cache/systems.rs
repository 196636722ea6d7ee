//! On which file systems times tell every change of a file, and how long after a change they tell the next one.
//!
//! Linux sets the times of a file when it is written to, and, where it is written to through a mapping, at the first write
//! to each page: the page may be written to then, and nothing is said of further writes until the system has written it
//! back to the disk, after which the next write is a first one again. So the times of a file say nothing for sure before
//! they are older than the longest that a page stays unwritten.
//!
//! - On file systems on disks that is `vm.dirty_expire_centisecs` and, until the system looks for such pages,
//!   `vm.dirty_writeback_centisecs` more: 35 s, where nobody has set them otherwise.
//! - On tmpfs nothing is ever written back, and writes through a mapping do not set times at all. Whether a file will be
//!   mapped, or has been, nobody can ask for.
//! - On FUSE times are what a program makes up: some make the change time of the modification time, which any program may
//!   set back. On network file systems they are what the server has said some time ago.
//!
//! What no time can tell: what is written through a mapping while the system does not get to write pages back in time, as on a
//! disk that hangs; what is written to the disk beside its file system; what changes in a lower directory of an overlay.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Beyond the longest that a page should stay unwritten: for a disk that is slow to take it, and for the ticks of clocks.
const SLACK: Duration = Duration::from_secs(5);

/// A file that is written to again within one tick of its file system's clock keeps its times. Ticks are up to 2 s (FAT);
/// where they are shorter, the rest is for a server's clock that is late.
const TICK: Duration = Duration::from_secs(2);

/// How old a file's times must be to be believed.
pub(super) struct FileSystems {
    /// Where changes show in times; none if they may never do.
    on_disk: Option<Duration>,
    /// Everywhere else; none if they are not believed.
    elsewhere: Option<Duration>,
    /// Whether a device is a file system on a disk.
    known: RwLock<HashMap<u64, bool>>,
}

impl FileSystems {
    /// Those of this system. If `all` are trusted, times are believed where they do not tell every change.
    pub(super) fn new(all: bool) -> Self {
        let setting = |name: &str| fs::read_to_string(Path::new("/proc/sys/vm").join(name)).ok();
        let on_disk = written_back(setting("dirty_expire_centisecs"), setting("dirty_writeback_centisecs"));
        let on_disk = on_disk.map(|longest| longest + SLACK);
        FileSystems { on_disk, elsewhere: all.then_some(TICK), known: RwLock::default() }
    }

    /// All alike.
    pub(super) fn with_age(age: Duration) -> Self {
        FileSystems { on_disk: Some(age), elsewhere: Some(age), known: RwLock::default() }
    }

    /// How old the times must be of a file on this device that has this path; none if they are not believed.
    pub(super) fn age(&self, device: u64, path: &Path) -> Option<Duration> {
        if self.is_on_disk(device, path) { self.on_disk } else { self.elsewhere }
    }

    fn is_on_disk(&self, device: u64, path: &Path) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&device).copied();
        known.unwrap_or_else(|| {
            let Some(is_on_disk) = look(device, path) else { return false };
            self.known.write().unwrap_or_else(PoisonError::into_inner).insert(device, is_on_disk);
            is_on_disk
        })
    }
}

/// The longest that a page stays unwritten, by the system's settings; none if it is written back only on demand.
fn written_back(expire: Option<String>, interval: Option<String>) -> Option<Duration> {
    let centiseconds =
        |setting: Option<String>, usual| setting.and_then(|text| text.trim().parse().ok()).unwrap_or(usual);
    let (expire, interval): (u64, u64) = (centiseconds(expire, 3000), centiseconds(interval, 500));
    let longest = Duration::from_millis(expire.saturating_add(interval).saturating_mul(10));
    (interval > 0).then_some(longest)
}

/// Whether a device is a file system on a disk, by a file on it; none if that file is no longer there.
#[cfg(target_os = "linux")]
fn look(device: u64, path: &Path) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    let system = rustix::fs::statfs(path).ok()?;
    // Another file may have come in its place.
    let is_there = path.metadata().ok()?.dev() == device;
    is_there.then_some(ON_DISK.contains(&(system.f_type as u32)))
}

/// Elsewhere it cannot be told.
#[cfg(not(target_os = "linux"))]
fn look(_device: u64, _path: &Path) -> Option<bool> {
    Some(true)
}

/// The numbers by which Linux names file systems on disks, from its `magic.h` and their own headers. Any other, as of
/// tmpfs, FUSE, NFS, SMB, 9p or Ceph, is not believed.
#[cfg(target_os = "linux")]
const ON_DISK: [u32; 18] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0xf2f5_2010, // F2FS
    0xca45_1a4e, // bcachefs
    0x2fc1_2fc1, // ZFS
    0x3153_464a, // JFS
    0x3434,      // NILFS2
    0x5265_4973, // ReiserFS
    0x2405_1905, // UBIFS
    0x7366_746e, // NTFS (ntfs3)
    0x482b,      // HFS+
    0xf15f,      // eCryptfs, on another one
    0x794c_7630, // overlayfs, on others
    0x7371_7368, // SquashFS
    0xe0f5_e1e2, // EROFS
    0x9660,      // ISO 9660
    0x1501_3346, // UDF
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_system() {
        let longest = |expire: &str, interval: &str| {
            let setting = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            written_back(setting(expire), setting(interval)).map(|longest| longest.as_millis())
        };
        assert_eq!(longest("", ""), Some(35_000));
        assert_eq!(longest("1000\n", "50\n"), Some(10_500));
        assert_eq!(longest("no number", "500"), Some(35_000));
        // Without intervals only who asks for it has pages written.
        assert_eq!(longest("3000", "0"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn disks_and_others() {
        use std::os::unix::fs::MetadataExt;
        let age = |all, path: &str| {
            let device = fs::metadata(path).map_or(0, |there| there.dev());
            FileSystems::new(all).age(device, path.as_ref())
        };
        assert_eq!((age(false, "/proc/self/stat"), age(true, "/proc/self/stat")), (None, Some(TICK)));
        if rustix::fs::statfs("/dev/shm").is_ok_and(|system| system.f_type as u32 == 0x0102_1994) {
            assert_eq!((age(false, "/dev/shm"), age(true, "/dev/shm")), (None, Some(TICK)));
        }
        // What is gone is not believed, and asked for again.
        let systems = FileSystems::with_age(TICK);
        assert!(!systems.is_on_disk(1, "/none".as_ref()) && systems.known.read().expect("no panic").is_empty());
    }
}
