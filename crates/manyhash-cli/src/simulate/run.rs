//! A subject under the load.

use super::load::Load;
use super::outcome::Figures;
use super::produce::{Producers, produce};
use super::series::Series;
use super::subject::{Failure, Subject};
use crate::threads::can_start;
use indicatif::ProgressBar;
use manyhash::Digest;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Digests of all producers, in their order.
type Digests = Result<Vec<Digest>, Failure>;

/// Runs the producers to the end, and checks the digests.
pub(super) fn run<S: Subject>(
    subject: &S,
    shared: &Arc<Producers>,
    expected: &[Digest],
    bar: &ProgressBar,
) -> Result<Figures, Failure> {
    let load = &shared.load;
    let runtime = producers(load)?;
    let messages: Vec<_> = (0..load.producers).map(|_| subject.message()).collect();
    let mut series = Series::new(load.producers);
    bar.reset();
    bar.set_message(S::NAME);
    let start = Instant::now();
    let tasks = messages.into_iter().enumerate();
    let tasks = tasks.map(|(i, message)| runtime.spawn(produce(Arc::clone(shared), i, message, start))).collect();
    let (sender, receiver) = mpsc::channel();
    runtime.spawn(async move {
        // It is always received.
        let _ = sender.send(all(tasks).await);
    });
    let digests = loop {
        let due = start + series.next();
        match receiver.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(digests) => break digests?,
            Err(RecvTimeoutError::Timeout) => {
                let counters = subject.counters();
                series.add(start.elapsed(), counters);
                bar.set_position(counters.bytes);
            }
            Err(RecvTimeoutError::Disconnected) => panic!("a producer panicked"),
        }
    };
    series.add(start.elapsed(), subject.counters());
    check(S::NAME, load, &digests, expected)?;
    Ok(Figures::new(S::NAME, subject.threads(), load, &series))
}

/// The producers' threads: one a core at the most, since all that they do is copy.
fn producers(load: &Load) -> Result<Runtime, Failure> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(load.producers);
    // tokio would panic.
    can_start(threads).map_err(Failure::Threads)?;
    let runtime = Builder::new_multi_thread().worker_threads(threads).thread_name("producer").enable_time().build();
    runtime.map_err(Failure::Threads)
}

/// Waits for all of them, or for the first that fails.
async fn all(tasks: Vec<JoinHandle<Result<Digest, Failure>>>) -> Digests {
    let mut digests = Vec::with_capacity(tasks.len());
    for task in tasks {
        digests.push(task.await.expect("no producer panics")?);
    }
    Ok(digests)
}

fn check(subject: &'static str, load: &Load, digests: &[Digest], expected: &[Digest]) -> Result<(), Failure> {
    match digests.iter().zip(expected).position(|(digest, expected)| digest != expected) {
        None => Ok(()),
        Some(i) => Err(Failure::WrongDigest {
            subject,
            producer: i + 1,
            producers: load.producers,
            length: load.share(i),
            wrong: digests[i].to_hex(),
            expected: expected[i].to_hex(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::simulate::buffers::Buffers;
    use crate::simulate::content::Content;
    use crate::simulate::engine::Hashing;
    use crate::simulate::load::tests::load;
    use crate::simulate::produce::Producers;
    use indicatif::ProgressBar;
    use std::sync::Arc;

    #[test]
    fn a_wrong_digest_is_found() {
        let load = load("--hash md5 --producers 3 --chunk-size 1000 --total-size 10000").expect("a load");
        let content = Content::new();
        let mut expected = content.digests(&load);
        let buffers = Buffers::new(load.buffers, load.chunk_size);
        let shared = Arc::new(Producers { load: load.clone(), content, buffers });
        let engine = Hashing::new(&load, 1).expect("it starts");
        let run = |expected: &[_]| run(&engine, &shared, expected, &ProgressBar::hidden());
        assert_eq!(run(&expected).expect("it is right").samples.last().expect("a sample").bytes, 10000);
        expected.swap(1, 2);
        let message = run(&expected).err().expect("it is wrong").to_string();
        assert!(message.contains("manyhash: wrong digest of producer 2 of 3, 3333 bytes: "), "{message}");
    }
}
