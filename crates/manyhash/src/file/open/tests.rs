use super::*;
use std::io::Write;

const BOTH: [Way; 2] = [Way::Read, Way::Map];

/// A file of so many bytes, each like its place.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i / 7 % 251) as u8).collect()
}

struct Written {
    file: tempfile::NamedTempFile,
}

impl Written {
    fn new(content: &[u8]) -> Self {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(content).expect("it takes bytes");
        Written { file }
    }

    fn open(&self) -> OpenFile {
        let file = File::open(self.file.path()).expect("a file");
        let metadata = file.metadata().expect("a file");
        let open = OpenFile::new(file, metadata);
        #[cfg(all(feature = "map", target_os = "linux"))]
        let open = open.with_guard(Some(guard()));
        open
    }
}

#[cfg(all(feature = "map", target_os = "linux"))]
#[allow(unsafe_code)]
fn guard() -> SigbusGuard {
    // SAFETY: nothing else in the tests handles the signal or maps these files.
    unsafe { SigbusGuard::install() }.expect("a handler")
}

/// All bytes of a file that is read in turns by these ways.
fn all(mut open: OpenFile, mut ways: impl Iterator<Item = Way>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = vec![0; CHUNK];
    while !open.has_ended() {
        let way = ways.next().expect("as many ways as are needed");
        assert!(open.fill(&mut buffer, way, true)? == Filled::Yes);
        all.extend_from_slice(open.chunk(&buffer));
        open.hashed()?;
    }
    assert_eq!(open.offset(), all.len() as u64);
    assert!(open.chunk(&buffer).is_empty());
    Ok(all)
}

#[test]
fn all_bytes_by_each_way_and_by_both() {
    let lengths =
        [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 256 << 10, (512 << 10) - 1, 512 << 10, (512 << 10) + 1, (3 << 20) + 5];
    for length in lengths {
        let content = content(length);
        let written = Written::new(&content);
        for way in BOTH {
            assert!(
                all(written.open(), std::iter::repeat(way)).expect("it can be read") == content,
                "{length} by {way:?}"
            );
        }
        let by_turns = BOTH.into_iter().cycle().skip(length % 2);
        assert!(all(written.open(), by_turns).expect("it can be read") == content, "{length} by turns");
    }
}

#[test]
fn what_a_file_gets_meanwhile_is_read() {
    for way in BOTH {
        let content = content(512 << 10);
        let mut written = Written::new(&content);
        let mut open = written.open();
        let mut buffer = vec![0; CHUNK];
        assert!(open.fill(&mut buffer, way, true).expect("it can be read") == Filled::Yes);
        let mut found = open.chunk(&buffer).to_vec();
        written.file.write_all(b"more").expect("it takes bytes");
        open.hashed().expect("all of it was there");
        found.extend(all_after(open, way));
        assert!(found == [&content[..], b"more"].concat(), "{way:?}");
    }
}

/// As much as it said that it has comes in one read.
#[test]
fn what_a_short_file_gets_meanwhile_is_read() {
    let mut written = Written::new(b"some, ");
    let mut open = written.open();
    let mut buffer = vec![0; CHUNK];
    assert!(open.fill(&mut buffer, Way::Read, false).expect("it can be read") == Filled::Yes);
    assert_eq!(open.chunk(&buffer), b"some, ");
    written.file.write_all(b"more").expect("it takes bytes");
    open.hashed().expect("it was read");
    assert_eq!(all_after(open, Way::Read), b"more");
}

/// The bytes of a file from where it is on.
fn all_after(mut open: OpenFile, way: Way) -> Vec<u8> {
    let (mut rest, mut buffer) = (Vec::new(), vec![0; CHUNK]);
    while !open.has_ended() {
        open.fill(&mut buffer, way, true).expect("it can be read");
        rest.extend_from_slice(open.chunk(&buffer));
        open.hashed().expect("all of it was there");
    }
    rest
}

#[test]
fn a_file_that_is_truncated_ends_where_it_is_read() {
    let written = Written::new(&content(1 << 20));
    let mut open = written.open();
    let mut buffer = vec![0; CHUNK];
    open.fill(&mut buffer, Way::Read, true).expect("it can be read");
    open.hashed().expect("it was read");
    written.file.as_file().set_len(10).expect("it is truncated");
    assert_eq!(all_after(open, Way::Read), b"");
}

/// What is not waited for may be said to be the end where it is not.
#[test]
#[cfg(target_os = "linux")]
fn an_end_before_the_size_is_waited_for() {
    let written = Written::new(&content(2 * CHUNK));
    let mut open = written.open();
    written.file.as_file().set_len(0).expect("it is truncated");
    let mut buffer = vec![0; CHUNK];
    assert!(open.fill(&mut buffer, Way::Read, false).expect("it can be read") == Filled::Cold);
    assert!(!open.has_ended());
    assert_eq!(all_after(open, Way::Read), b"");
}

#[test]
#[cfg(all(feature = "map", target_os = "linux"))]
fn a_file_that_is_truncated_is_an_error_where_it_is_mapped() {
    // In whole pages, of which a signal tells, and within the last one, of which none does.
    for left in [map::WINDOW / 2, map::WINDOW - 5] {
        let written = Written::new(&content(map::WINDOW));
        let mut open = written.open();
        let mut buffer = vec![0; CHUNK];
        open.fill(&mut buffer, Way::Map, true).expect("it can be mapped");
        written.file.as_file().set_len(left as u64).expect("it is truncated");
        assert!(open.chunk(&buffer)[left..].iter().all(|byte| *byte == 0));
        assert_eq!(open.hashed().expect_err("the end was lost").to_string(), "File was truncated while it was read");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn files_that_say_they_are_empty() {
    let file = File::open("/proc/self/status").expect("a file of the system's");
    let metadata = file.metadata().expect("a file");
    assert_eq!(metadata.len(), 0);
    let text = all(OpenFile::new(file, metadata), std::iter::repeat(Way::Map)).expect("it can be read");
    assert!(text.starts_with(b"Name:"));
}
