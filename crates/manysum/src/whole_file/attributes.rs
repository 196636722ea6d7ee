//! What a file has beside its content, for the one that takes its place: its owner, group, mode, and extended attributes,
//! of which access control lists are some.
//!
//! The new file never lets anybody read who could not read the old one. So if the group cannot be kept, or the list of
//! those who have access, then the group's permissions are no more than everybody's: they meant others than they would
//! mean now.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

/// The name that Linux has for a file's access control list.
#[cfg(target_os = "linux")]
const ACL: &str = "system.posix_acl_access";

/// What the system keeps of a file's content, and would find to be wrong of another one's.
#[cfg(target_os = "linux")]
const OF_CONTENT: [&str; 3] = ["security.capability", "security.evm", "security.ima"];

/// Gives `new` the attributes of the file `old`, as far as the system lets this process.
///
/// # Errors
/// If the new file's permissions cannot be set.
pub(super) fn keep(old: &Path, metadata: &Metadata, new: &File) -> io::Result<()> {
    let made = new.metadata()?;
    // Only root gives files away, but most may choose among their groups.
    let is_owner_kept = made.uid() == metadata.uid() || fchown(new, Some(metadata.uid()), None).is_ok();
    let is_group_kept = made.gid() == metadata.gid() || fchown(new, None, Some(metadata.gid())).is_ok();
    // Before anybody else may read it. The bits to run as somebody are not for a file whose owner changes.
    let bits = if is_owner_kept && is_group_kept { 0o7777 } else { 0o777 };
    let mode = metadata.mode() & bits;
    let is_list_kept = keep_extended(old, new);
    let mode = if is_group_kept && is_list_kept { mode } else { with_narrow_group(mode) };
    new.set_permissions(Permissions::from_mode(mode))
}

/// The mode with no more permissions for the group than for everybody.
fn with_narrow_group(mode: u32) -> u32 {
    let everybody = mode & 0o7;
    (mode & !0o70) | (mode & (everybody << 3))
}

/// Gives it the extended attributes; whether the list of those who have access is the same.
#[cfg(target_os = "linux")]
fn keep_extended(old: &Path, new: &File) -> bool {
    use xattr::FileExt;
    // The directory may give its files a list, which the old one need not have.
    let _ = new.remove_xattr(ACL);
    // Where there are none that is an error too.
    let Ok(names) = xattr::list(old) else { return true };
    let mut is_list_kept = true;
    for name in names.filter(|name| !OF_CONTENT.iter().any(|other| name == other)) {
        let kept = xattr::get(old, &name).and_then(|value| value.map_or(Ok(()), |value| new.set_xattr(&name, &value)));
        is_list_kept &= kept.is_ok() || name != ACL;
    }
    is_list_kept
}

#[cfg(not(target_os = "linux"))]
fn keep_extended(_: &Path, _: &File) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_is_another_gets_no_more_than_everybody() {
        for (mode, narrow) in [(0o640, 0o600), (0o664, 0o644), (0o604, 0o604), (0o777, 0o777), (0o674, 0o644)] {
            assert_eq!(with_narrow_group(mode), narrow, "{mode:o}");
        }
    }

    #[test]
    fn modes_and_attributes() {
        let directory = tempfile::tempdir().expect("a directory");
        let [old, new] = ["old", "new"].map(|name| directory.path().join(name));
        for mode in [0o600, 0o640, 0o666, 0o400, 0o755] {
            let file = File::create(&old).expect("a file");
            #[cfg(target_os = "linux")]
            let has_attributes = xattr::set(&old, "user.comment", b"important").is_ok();
            file.set_permissions(Permissions::from_mode(mode)).expect("a mode");
            let file = File::create(&new).expect("a file");
            keep(&old, &old.metadata().expect("a file"), &file).expect("it is kept");
            assert_eq!(file.metadata().expect("a file").mode() & 0o7777, mode);
            #[cfg(target_os = "linux")]
            if has_attributes {
                assert_eq!(xattr::get(&new, "user.comment").expect("attributes").as_deref(), Some(&b"important"[..]));
            }
            std::fs::remove_file(&old).expect("it is removed");
            std::fs::remove_file(&new).expect("it is removed");
        }
    }
}
