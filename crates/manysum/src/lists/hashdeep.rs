//! The lists of hashdeep, of several digests a file.
//!
//! ```text
//! %%%% HASHDEEP-1.0
//! %%%% size,md5,sha256,filename
//! ## Invoked from: /home/examiner
//! 3,900150983cd24fb0d6963f7d28e17f72,ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad,a, b
//! ```
//!
//! The second line names the columns, and the last of them, the name of the file, takes the rest of a line. Nothing in
//! it is escaped. A carriage return at its end belongs to it, unless the first line ends in one too.

use super::{Entry, digest};
use manyhash::HashFunction;

/// The first line.
pub const FIRST: &[u8] = b"%%%% HASHDEEP-1.0";

/// What begins a line of the header.
pub(super) const HEADER: &[u8] = b"%%%% ";

/// The columns of a list before the names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns(Vec<Column>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Column {
    Size,
    Digest(HashFunction),
    /// Of a function that is not known here, such as Tiger.
    Unknown,
}

impl Columns {
    /// Those that the second line of a list names.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let names = str::from_utf8(line.strip_prefix(HEADER)?).ok()?;
        let columns = names.strip_suffix(",filename")?.split(',').map(|name| match name.parse() {
            _ if name == "size" => Column::Size,
            Ok(function) => Column::Digest(function),
            Err(_) => Column::Unknown,
        });
        Some(Columns(columns.collect()))
    }

    /// The functions whose digests the columns have.
    pub(super) fn functions(&self) -> Vec<HashFunction> {
        let function = |column: &Column| if let Column::Digest(function) = column { Some(*function) } else { None };
        self.0.iter().filter_map(function).collect()
    }

    /// What a line says, of the functions that `takes` has; none if it is improperly formatted or has no digest of them.
    pub fn entry(&self, line: &[u8], takes: impl Fn(HashFunction) -> bool) -> Option<Entry> {
        let mut cells = line.splitn(self.0.len() + 1, |&byte| byte == b',');
        let mut entry = Entry { name: Vec::new(), size: None, digests: Vec::new() };
        for column in &self.0 {
            let cell = cells.next()?;
            match *column {
                Column::Size => entry.size = Some(str::from_utf8(cell).ok()?.parse().ok()?),
                Column::Digest(function) => {
                    let digest = digest(function, cell)?;
                    if takes(function) {
                        entry.digests.push((function, digest));
                    }
                }
                Column::Unknown => {}
            }
        }
        entry.name = cells.next()?.to_vec();
        let is_name = !entry.name.is_empty() && !entry.name.contains(&0);
        (is_name && !entry.digests.is_empty()).then_some(entry)
    }
}

/// The two lines before those of files with digests of these functions.
pub(super) fn header(functions: &[HashFunction]) -> Vec<u8> {
    let names: String = functions.iter().map(|function| format!("{function},")).collect();
    [FIRST, b"\n", HEADER, b"size,", names.as_bytes(), b"filename\n"].concat()
}

/// Whether a line can hold this name.
pub(super) fn can_hold(name: &[u8]) -> bool {
    !name.contains(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::Accepted;
    use manyhash::Algorithm;

    /// As `hashdeep -c md5,sha1,tiger -l` of hashdeep 4.4 prints it.
    const COLUMNS: &[u8] = b"%%%% size,md5,sha1,tiger,filename";
    const ROW: &str = "1,9dd4e461268c8034f5c8564e155c67a6,11f6ad8ec52a2984abaafd7c3b516503785c2072,\
                       bbc1627a054f0f34d6de631f1097094736a4ebbf0b24dd31,./x, y";

    fn functions(row: &str, takes: Accepted) -> Option<Vec<String>> {
        let columns = Columns::parse(COLUMNS).expect("columns");
        let entry = columns.entry(row.as_bytes(), |function| takes.takes(function))?;
        assert_eq!((&entry.name[..], entry.size), (&b"./x, y"[..], Some(1)));
        Some(entry.digests.iter().map(|(function, _)| function.to_string()).collect())
    }

    #[test]
    fn rows() {
        let only = |algorithm| Accepted::Only(HashFunction::Lanes(algorithm));
        assert_eq!(functions(ROW, Accepted::Any), Some(vec!["md5".to_owned(), "sha1".to_owned()]));
        assert_eq!(
            functions(&ROW.to_uppercase().replace("./X, Y", "./x, y"), only(Algorithm::Sha1)).unwrap(),
            ["sha1"]
        );
        assert_eq!(functions(ROW, only(Algorithm::Sha256)), None);
        for wrong in [
            &ROW[1..],
            &ROW[2..],
            &ROW.replace("9dd", "9d"),
            &ROW.replace(",11f", ",g1f"),
            &ROW[..ROW.len() - 6],
            "1,2",
        ] {
            assert_eq!(functions(wrong, Accepted::Any), None, "{wrong}");
        }
    }

    #[test]
    fn headers() {
        let header = header(&[Algorithm::Md5.into(), Algorithm::Sha256.into()]);
        assert_eq!(header, b"%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n");
        let columns = [Column::Size, Column::Digest(Algorithm::Md5.into()), Column::Unknown];
        assert_eq!(Columns::parse(b"%%%% size,md5,md6,filename"), Some(Columns(columns.to_vec())));
        for wrong in [&b"%%%% size,md5"[..], b"%% size,md5,filename", b"%%%% HASHDEEP-1.0", b""] {
            assert_eq!(Columns::parse(wrong), None);
        }
    }
}
