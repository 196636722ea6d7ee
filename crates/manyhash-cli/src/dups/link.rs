//! Duplicates that become names of the file that stays.

use super::settle::Manner;
use super::version::{Opened, Version, changed};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// What all names of a file have in common, apart from its content and times.
#[derive(PartialEq, Eq)]
pub(super) struct Attributes {
    owner: (u32, u32),
    permissions: u32,
    /// Extended attributes, access control lists among them, in the order of their names.
    extended: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Attributes {
    #[cfg(unix)]
    pub(super) fn of(file: &File) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = file.metadata()?;
        Ok(Attributes {
            owner: (metadata.uid(), metadata.gid()),
            permissions: metadata.mode() & 0o7777,
            extended: extended(file)?,
        })
    }

    #[cfg(not(unix))]
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let permissions = file.metadata()?.permissions().readonly().into();
        Ok(Attributes { owner: (0, 0), permissions, extended: Vec::new() })
    }

    /// What is not the same, if anything.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        if self.owner != other.owner {
            Some("owner and group")
        } else if self.permissions != other.permissions {
            Some("permissions")
        } else if self.extended != other.extended {
            Some("extended attributes or access control lists")
        } else {
            None
        }
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn extended(file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    use rustix::fs::{fgetxattr, flistxattr};
    use rustix::io::Errno;
    /// What Linux allows for the names, and for a value.
    const MOST: usize = 1 << 16;
    let mut names = Vec::with_capacity(MOST);
    match flistxattr(file, rustix::buffer::spare_capacity(&mut names)) {
        Ok(_) => {}
        // The file system has none.
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    }
    let mut attributes = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = Vec::with_capacity(MOST);
        fgetxattr(file, name, rustix::buffer::spare_capacity(&mut value))?;
        attributes.push((name.to_vec(), value));
    }
    attributes.sort_unstable();
    Ok(attributes)
}

#[cfg(all(unix, not(any(target_os = "linux", target_vendor = "apple"))))]
fn extended(_file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    Ok(Vec::new())
}

/// Makes the names of duplicates further ones of the file that stays.
pub(super) struct Link<'a> {
    /// The path of that one.
    pub(super) kept: &'a Path,
    /// Whatever their attributes.
    pub(super) ignore_attributes: bool,
}

impl Manner for Link<'_> {
    fn allows(&self, kept: &Opened, other: &Opened) -> io::Result<()> {
        let same = self.ignore_attributes || Attributes::of(&kept.file)? == Attributes::of(&other.file)?;
        if same { Ok(()) } else { Err(changed()) }
    }

    fn replace(&self, kept: &Opened, name: &Path) -> io::Result<()> {
        match link_opened(&kept.file, name) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unsupported) => {}
            linked => return linked,
        }
        // By its path, to which another file may have come meanwhile.
        fs::hard_link(self.kept, name)?;
        if Version::at(name)?.identity != kept.version.identity {
            fs::remove_file(name)?;
            return Err(changed());
        }
        Ok(())
    }
}

/// A further name of the very file that is open; not without /proc.
#[cfg(target_os = "linux")]
fn link_opened(kept: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let open = format!("/proc/self/fd/{}", kept.as_raw_fd());
    Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link_opened(_kept: &File, _name: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
