//! No thread can be started: in a process of its own, whose limit it is.
#![cfg(target_os = "linux")]

mod common;

use common::{bytes, reference};
use manyhash::file::{Files, Source};
use manyhash::{Algorithm, Batch, Column, Encoding};
use nix::sys::resource::{Resource, setrlimit};
use std::fs;
use std::ops::ControlFlow;
use std::thread;

/// Bytes that may still be mapped: less than the stack of a thread takes.
const LEFT: u64 = 1 << 20;

/// Takes the memory for further stacks away from the process. A limit on the number of threads has the same effect, but
/// not for root.
fn allow_no_threads() {
    let status = fs::read_to_string("/proc/self/status").expect("the memory of this process");
    let size =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB")?.trim().parse::<u64>().ok());
    let most = size.expect("a number of kB") * 1024 + LEFT;
    setrlimit(Resource::RLIMIT_AS, most, most).expect("it can be lowered");
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("threads").count()
}

#[test]
fn the_callers_thread_does_all_the_work() {
    let data = bytes(5 << 20);
    let messages: Vec<&[u8]> = data.chunks(10_000).collect();
    let due: Vec<u8> =
        messages.iter().flat_map(|message| reference(Algorithm::Md5, message).as_bytes().to_vec()).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, messages[0]).expect("a file");
    let column = Column::fixed(&data, 16).expect("whole rows");
    let rows = reference(Algorithm::Sha256, &data[..16]);
    let mut room = vec![0; column.len() * 32];

    allow_no_threads();
    let before = threads();
    let start = || thread::Builder::new().spawn(|| {});
    start().expect_err("there is no memory for a stack");
    let batch = Batch::new(Algorithm::Md5);
    // The second one finds no threads of the first.
    for _ in 0..2 {
        assert_eq!(batch.digest_many_packed(&messages).as_bytes(), due);
    }
    Batch::new(Algorithm::Sha256).digest_column_into(&column, Encoding::Binary, &mut room).expect("a digest a row");
    assert_eq!(room[..32], *rows.as_bytes());
    let mut seen = 0;
    let sources = (0..5).map(|_| ((), Source::Path(file.path().to_path_buf())));
    Files::new(&[Algorithm::Md5.into()]).threads(3).digest(sources, |(), digested| {
        assert_eq!(digested.expect("a readable file").digests[0].as_bytes(), &due[..16]);
        seen += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(seen, 5);
    start().expect_err("nor is there afterwards");
    assert_eq!(threads(), before);
}
