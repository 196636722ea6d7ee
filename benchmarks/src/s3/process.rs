//! A program that runs beside this one, what the system says of it, and its end.

use super::error::S3LoadError;
use std::fs;
use std::io;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long a program may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(20);

/// Of these the system makes a second, whatever its own ticks are (Linux: `USER_HZ`).
const TICKS: u32 = 100;

/// A program that ends with this.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Self, S3LoadError> {
        command.spawn().map(Process).map_err(S3LoadError::Run)
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Ends it as it is.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// An error if it has ended.
    pub(crate) fn alive(&mut self) -> Result<(), S3LoadError> {
        match self.0.try_wait().map_err(S3LoadError::Run)? {
            None => Ok(()),
            Some(_) => Err(S3LoadError::Ended),
        }
    }

    /// What all its threads have used so far, those of its children too, in user mode and in the system's.
    pub(crate) fn cpu(&self) -> Result<Duration, S3LoadError> {
        let own = stat(self.0.id())?;
        let children = others().filter_map(|other| stat(other).ok()).filter(|other| other.parent == self.0.id());
        Ok(children.fold(own.cpu, |sum, child| sum + child.cpu))
    }

    /// The peak of its resident memory, in bytes.
    pub(crate) fn peak(&self) -> Result<u64, S3LoadError> {
        let status = read(self.0.id(), "status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        Ok(1024 * kib.ok_or(S3LoadError::Ended)?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        use nix::sys::signal::{Signal, kill};
        use nix::unistd::Pid;
        // Asked, so that nginx ends its workers too; unless it has ended, for then its number may be another's.
        if self.alive().is_ok()
            && i32::try_from(self.0.id()).is_ok_and(|id| kill(Pid::from_raw(id), Signal::SIGTERM).is_ok())
        {
            let until = Instant::now() + PATIENCE;
            while self.alive().is_ok() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        self.kill();
    }
}

/// What the system says of a process.
struct Stat {
    parent: u32,
    cpu: Duration,
}

fn stat(id: u32) -> Result<Stat, S3LoadError> {
    parse(&read(id, "stat")?).ok_or(S3LoadError::Ended)
}

/// `42 (its name) S 1 ...`: the parent is the 4th field, the times are the 14th and 15th (proc(5)).
fn parse(stat: &str) -> Option<Stat> {
    // A name can have spaces and parentheses.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u32>().ok();
    Some(Stat { parent: number(4)?, cpu: Duration::from_secs(1) * (number(14)? + number(15)?) / TICKS })
}

fn read(id: u32, file: &str) -> Result<String, S3LoadError> {
    let path = format!("/proc/{id}/{file}");
    fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => S3LoadError::Ended,
        _ => S3LoadError::File { path: path.into(), error },
    })
}

fn others() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Process, parse};
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn what_the_system_says_is_understood() {
        let line = "4242 (a (strange) name) S 17 4242 4242 0 -1 4194560 95 0 0 0 250 50 7 7 20 0 1 0 1 1 1";
        let stat = parse(line).unwrap();
        assert_eq!((stat.parent, stat.cpu), (17, Duration::from_secs(3)));
        assert!(parse("4242 (sh) S 17").is_none() && parse("").is_none());
    }

    #[test]
    fn a_process_and_its_children_are_watched_and_ended() {
        let busy = "(while :; do :; done) & trap 'kill $!; exit' TERM; wait";
        let mut process = Process::start(Command::new("sh").args(["-c", busy])).unwrap();
        let begun = Instant::now();
        while process.cpu().unwrap() < Duration::from_millis(50) {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
        process.alive().unwrap();
        assert!(process.peak().unwrap() > 100_000);
        let ending = Instant::now();
        drop(process);
        assert!(ending.elapsed() < super::PATIENCE);
    }
}
