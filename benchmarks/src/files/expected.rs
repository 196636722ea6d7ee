//! What the digests of a tree's files should be, by OpenSSL, and whether a program printed them.

use super::error::FilesError;
use super::made::Made;
use manyhash::Algorithm;
use openssl::hash::{Hasher, MessageDigest};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;

/// How a program prints digests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// `DIGEST  NAME`, as coreutils, rhash and rclone do.
    Gnu,
    /// `MD5(NAME)= DIGEST`.
    OpenSsl,
    /// `LENGTH,DIGEST,NAME`, after lines that begin with `%` or `#`.
    Hashdeep,
}

impl Format {
    /// The digest and the name in a line.
    fn pair(self, line: &str) -> Option<(&str, &str)> {
        let (digest, name) = match self {
            Format::Gnu => {
                let (digest, name) = line.split_once(' ')?;
                (digest, name.strip_prefix([' ', '*'])?)
            }
            Format::OpenSsl => {
                let (name, digest) = line.rsplit_once(")= ")?;
                (digest, name.split_once('(')?.1)
            }
            Format::Hashdeep => line.split_once(',')?.1.split_once(',')?,
        };
        Some((digest, name.strip_prefix("./").unwrap_or(name)))
    }

    fn is_heading(self, line: &str) -> bool {
        self == Format::Hashdeep && line.starts_with(['%', '#'])
    }
}

/// The digest of each file, in hexadecimal.
pub(crate) struct Expected(HashMap<String, String>);

impl Expected {
    /// Reads all files, which also brings them into the page cache.
    pub(crate) fn new(algorithm: Algorithm, made: &Made) -> Result<Self, FilesError> {
        let function = match algorithm {
            Algorithm::Md5 => MessageDigest::md5(),
            _ => MessageDigest::sha256(),
        };
        let mut buffer = vec![0; 1 << 20];
        let root = made.root();
        let digest = |name: &String| {
            let path = root.join(name);
            let mut file = File::open(&path).map_err(FilesError::of(&path))?;
            let mut hasher = Hasher::new(function)?;
            loop {
                match file.read(&mut buffer).map_err(FilesError::of(&path))? {
                    0 => break,
                    length => hasher.update(&buffer[..length])?,
                }
            }
            let digest = hasher.finish()?.iter().map(|byte| format!("{byte:02x}")).collect();
            Ok((name.clone(), digest))
        };
        made.tree.names().map(digest).collect::<Result<_, _>>().map(Expected)
    }

    /// # Errors
    /// Unless there is the right digest of every file, once, and nothing else.
    pub(crate) fn check(
        &self,
        case: &'static str,
        subject: &str,
        format: Format,
        text: &[u8],
    ) -> Result<(), FilesError> {
        let text = String::from_utf8_lossy(text);
        let mut seen = HashSet::new();
        for line in text.lines().filter(|line| !format.is_heading(line)) {
            let wrong = || FilesError::Line { subject: subject.into(), case, line: line.into() };
            let (digest, name) = format.pair(line).ok_or_else(wrong)?;
            let expected = self.0.get(name).filter(|_| seen.insert(name)).ok_or_else(wrong)?;
            if digest != expected {
                let (wrong, expected) = (digest.into(), expected.clone());
                return Err(FilesError::WrongDigest {
                    subject: subject.into(),
                    case,
                    file: name.into(),
                    wrong,
                    expected,
                });
            }
        }
        match self.0.keys().find(|name| !seen.contains(name.as_str())) {
            Some(file) => Err(FilesError::Missing { subject: subject.into(), case, file: file.clone() }),
            None => Ok(()),
        }
    }

    /// One digest is altered.
    #[cfg(test)]
    pub(crate) fn spoil(&mut self) {
        let digest = self.0.values_mut().next().expect("there is a file");
        digest.replace_range(..1, if digest.starts_with('0') { "1" } else { "0" });
    }
}

#[cfg(test)]
mod tests {
    use super::{Expected, Format};
    use crate::files::error::FilesError;
    use crate::files::made::Made;
    use crate::files::tree::Shape;
    use manyhash::Algorithm;
    use std::fs;

    /// "hi\n" in t/y and "ho\n" in t/a/x; lines as the programs printed them.
    const Y: &str = "764efa883dda1e11db47671c4a3bbd9e";
    const X: &str = "79e7e210bdf335bb8651a46b9a8417ab";

    fn expected() -> Expected {
        Expected([("t/y", Y), ("t/a/x", X)].map(|(name, digest)| (name.into(), digest.into())).into())
    }

    fn check(format: Format, text: &str) -> Result<(), FilesError> {
        expected().check("tree", "program", format, text.as_bytes())
    }

    #[test]
    fn every_format_is_read() {
        for (format, text) in [
            (Format::Gnu, format!("{Y}  t/y\n{X}  t/a/x\n")),
            (Format::Gnu, format!("{X} *./t/a/x\n{Y} *./t/y\n")),
            (Format::OpenSsl, format!("MD5(t/y)= {Y}\nMD5(t/a/x)= {X}\n")),
            (Format::OpenSsl, format!("SHA2-256(t/y)= {Y}\nSHA2-256(t/a/x)= {X}\n")),
            (
                Format::Hashdeep,
                format!(
                    "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## Invoked from: /tmp\n\
                     ## # hashdeep -j2 -c md5 -l -r .\n## \n3,{Y},./t/y\n3,{X},./t/a/x\n"
                ),
            ),
        ] {
            check(format, &text).unwrap();
        }
    }

    #[test]
    fn every_file_needs_its_digest_once() {
        let text = |x, y| format!("{x}  t/a/x\n{y}  t/y\n");
        let error = check(Format::Gnu, &text(Y, Y)).unwrap_err();
        assert!(matches!(&error, FilesError::WrongDigest { file, .. } if file == "t/a/x"), "{error}");
        let error = check(Format::Gnu, &format!("{X}  t/a/x\n")).unwrap_err();
        assert!(matches!(&error, FilesError::Missing { file, .. } if file == "t/y"), "{error}");
        for more in [format!("{X}  t/a/x\n"), format!("{X}  t/z\n"), format!("MD5(t/y)= {Y}\n"), "\n".into()] {
            let error = check(Format::Gnu, &(text(X, Y) + &more)).unwrap_err();
            assert!(matches!(&error, FilesError::Line { line, .. } if more.starts_with(line.as_str())), "{error}");
        }
    }

    #[test]
    fn digests_are_of_what_the_files_have() {
        let within = tempfile::tempdir().unwrap();
        let made = Made::new(Shape::Equal { files: 1, length: 0, folder: 1 }, within.path()).unwrap();
        fs::write(made.root().join("f0"), "hi\n").unwrap();
        let Expected(digests) = Expected::new(Algorithm::Md5, &made).unwrap();
        assert_eq!(digests["f0"], Y);
        let Expected(digests) = Expected::new(Algorithm::Sha256, &made).unwrap();
        assert_eq!(digests["f0"], "98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4");
    }
}
