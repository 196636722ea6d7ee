//! A disk in memory that fails at a call, and loses power.
//!
//! It keeps a log of what was asked of it. After a power failure a write counts for sure if a sync of its file has
//! succeeded since, and so does a name if its directory was synced. Anything else may be there or not: writes in pieces
//! of 512 bytes, names one by one, in any combination. What a sync has failed on is never there for sure, even if a
//! later sync succeeds.

use crate::support::Random;
use manyhash_store::disk::{Access, Disk, DiskFile};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sim(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    files: Vec<Vec<u8>>,
    names: BTreeMap<PathBuf, usize>,
    directories: BTreeSet<PathBuf>,
    is_locked: bool,
    base: Option<Base>,
    log: Vec<Op>,
    calls: usize,
    fault: Option<Fault>,
    /// What is said to be free, if there is a limit.
    free_space: Option<u64>,
}

/// What was asked of the disk, or told to the test.
#[derive(Clone, Debug)]
enum Op {
    CreateDirectory(PathBuf),
    Link(PathBuf, usize),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf, usize),
    SyncDirectory(PathBuf),
    Write(usize, u64, Vec<u8>),
    SetLength(usize, u64),
    Sync(usize),
    SyncFailed(usize),
    Mark(usize),
}

/// What goes wrong, and at which call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) call: usize,
    pub(crate) kind: FaultKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FaultKind {
    /// There is no room: what gives room, or reads, succeeds.
    Full,
    /// The disk fails.
    Broken,
    /// A write takes only a part, and what follows fails for want of room.
    Short,
}

/// What a call does, as far as faults are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Takes,
    Write,
    Frees,
}

/// Which of what is not synced survives a power failure.
pub(crate) enum Survives {
    Nothing,
    Everything,
    Some(Random),
}

impl Survives {
    fn decide(&mut self) -> bool {
        match self {
            Survives::Nothing => false,
            Survives::Everything => true,
            Survives::Some(random) => random.below(2) == 0,
        }
    }
}

impl Sim {
    pub(crate) fn new() -> Self {
        let sim = Sim::default();
        sim.state().directories.insert(PathBuf::from("/"));
        sim
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    pub(crate) fn fail(&self, fault: Option<Fault>) {
        let mut state = self.state();
        state.fault = fault;
        state.calls = 0;
    }

    pub(crate) fn limit_space(&self, free: u64) {
        self.state().free_space = Some(free);
    }

    pub(crate) fn calls(&self) -> usize {
        self.state().calls
    }

    /// Puts a mark into the log, and returns it.
    pub(crate) fn mark(&self, mark: usize) {
        self.state().log.push(Op::Mark(mark));
    }

    /// How many entries the log has.
    pub(crate) fn log_length(&self) -> usize {
        self.state().log.len()
    }

    /// The marks in a prefix of the log.
    pub(crate) fn marks(&self, prefix: usize) -> BTreeSet<usize> {
        let state = self.state();
        let marks = state.log[..prefix].iter().filter_map(|op| match op {
            Op::Mark(mark) => Some(*mark),
            _ => None,
        });
        marks.collect()
    }

    /// All files, for a look at what is left.
    pub(crate) fn files_under(&self, path: &str) -> Vec<PathBuf> {
        self.state().names.keys().filter(|name| name.starts_with(path)).cloned().collect()
    }

    /// The disk after a power failure behind a prefix of the log.
    pub(crate) fn after_power_failure(&self, prefix: usize, mut survives: Survives) -> Sim {
        let state = self.state();
        let log = &state.log[..prefix];
        let sim = Sim::new();
        {
            let mut after = sim.state();
            after.files = vec![Vec::new(); state.files.len()];
            let (synced, lost) = syncs(log);
            for (at, op) in log.iter().enumerate() {
                after.replay(op, at, &synced, &lost, &mut survives);
            }
            let (files, names, directories) = (after.files.clone(), after.names.clone(), after.directories.clone());
            after.base = Some(Base { files, names, directories });
        }
        sim
    }
}

impl Sim {
    /// The disk after another power failure, behind a prefix of the log since the first.
    ///
    /// What the first left is durable.
    pub(crate) fn after_second_failure(&self, prefix: usize, mut survives: Survives) -> Sim {
        let state = self.state();
        let log = &state.log[..prefix];
        let sim = Sim::new();
        {
            let mut after = sim.state();
            let base = state.base.as_ref().expect("there was a first failure");
            after.files = base.files.clone();
            after.files.resize(state.files.len(), Vec::new());
            (after.names, after.directories) = (base.names.clone(), base.directories.clone());
            let (synced, lost) = syncs(log);
            for (at, op) in log.iter().enumerate() {
                after.replay(op, at, &synced, &lost, &mut survives);
            }
        }
        sim
    }
}

/// What there was when the log began.
#[derive(Debug)]
struct Base {
    files: Vec<Vec<u8>>,
    names: BTreeMap<PathBuf, usize>,
    directories: BTreeSet<PathBuf>,
}

/// By file and by directory, up to where in the log it is synced; and per file, where a failed sync has made sure of
/// nothing.
type Synced = (BTreeMap<usize, usize>, BTreeMap<PathBuf, usize>);

fn syncs(log: &[Op]) -> (Synced, BTreeMap<usize, Vec<(usize, usize)>>) {
    let mut synced = Synced::default();
    let mut lost: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (at, op) in log.iter().enumerate() {
        match op {
            Op::Sync(file) => {
                synced.0.insert(*file, at);
            }
            Op::SyncFailed(file) => {
                let from = synced.0.get(file).copied().unwrap_or(0);
                lost.entry(*file).or_default().push((from, at));
            }
            Op::SyncDirectory(path) => {
                synced.1.insert(path.clone(), at);
            }
            _ => {}
        }
    }
    (synced, lost)
}

impl State {
    fn replay(
        &mut self,
        op: &Op,
        at: usize,
        (files, directories): &Synced,
        lost: &BTreeMap<usize, Vec<(usize, usize)>>,
        survives: &mut Survives,
    ) {
        let is_lost = |file: &usize| {
            lost.get(file).is_some_and(|spans| spans.iter().any(|(from, to)| (*from..*to).contains(&at)))
        };
        let is_synced = |file: &usize| files.get(file).is_some_and(|synced| *synced > at) && !is_lost(file);
        let is_named = |path: &Path| {
            let parent = path.parent().unwrap_or(path);
            directories.get(parent).is_some_and(|synced| *synced > at)
        };
        match op {
            Op::CreateDirectory(path) => {
                if is_named(path) || survives.decide() {
                    self.directories.insert(path.clone());
                }
            }
            Op::Link(path, file) => {
                if is_named(path) || survives.decide() {
                    self.names.insert(path.clone(), *file);
                }
            }
            Op::Unlink(path) => {
                if is_named(path) || survives.decide() {
                    self.names.remove(path);
                }
            }
            Op::Rename(from, to, file) => {
                // Atomic, as the journal makes it; and it is the file that has the name then, whatever had it before.
                if is_named(to) || survives.decide() {
                    self.names.remove(from);
                    self.names.insert(to.clone(), *file);
                }
            }
            Op::Write(file, offset, data) => {
                let is_sure = is_synced(file);
                for (piece, data) in data.chunks(512).enumerate() {
                    if is_sure || survives.decide() {
                        write(&mut self.files[*file], *offset as usize + piece * 512, data);
                    }
                }
            }
            Op::SetLength(file, length) => {
                if is_synced(file) || survives.decide() {
                    self.files[*file].resize(*length as usize, 0);
                }
            }
            Op::SyncDirectory(_) | Op::Sync(_) | Op::SyncFailed(_) | Op::Mark(_) => {}
        }
    }

    /// Counts a call, and says how it fails.
    fn call(&mut self, call: Call) -> io::Result<bool> {
        let number = self.calls;
        self.calls += 1;
        let Some(fault) = self.fault else {
            return Ok(false);
        };
        let full = || Err(io::ErrorKind::StorageFull.into());
        match fault.kind {
            FaultKind::Full if fault.call == number && matches!(call, Call::Takes | Call::Write) => full(),
            FaultKind::Broken if fault.call == number => Err(io::Error::other("the disk is broken")),
            FaultKind::Short if fault.call == number && call == Call::Write => Ok(true),
            FaultKind::Short if fault.call + 1 == number && call == Call::Write => full(),
            _ => Ok(false),
        }
    }

    fn file(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        if self.directories.contains(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn link(&mut self, path: &Path, file: usize) -> io::Result<()> {
        self.check_directory(path.parent().unwrap_or(path))?;
        if self.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.names.insert(path.to_owned(), file);
        self.log.push(Op::Link(path.to_owned(), file));
        Ok(())
    }
}

fn write(file: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if file.len() < offset + data.len() {
        file.resize(offset + data.len(), 0);
    }
    file[offset..offset + data.len()].copy_from_slice(data);
}

impl Disk for Sim {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        if state.directories.contains(path) {
            return Ok(());
        }
        state.call(Call::Takes)?;
        state.check_directory(path.parent().unwrap_or(path))?;
        state.directories.insert(path.to_owned());
        state.log.push(Op::CreateDirectory(path.to_owned()));
        Ok(())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.call(Call::Takes)?;
        state.check_directory(path)?;
        state.log.push(Op::SyncDirectory(path.to_owned()));
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut state = self.state();
        state.call(Call::Read)?;
        state.check_directory(path)?;
        let names = state.names.keys().chain(&state.directories);
        let names = names.filter(|name| name.parent() == Some(path)).filter_map(|name| name.file_name()?.to_str());
        Ok(names.map(str::to_owned).collect())
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        let file = if access == Access::Create {
            state.call(Call::Takes)?;
            let file = state.files.len();
            state.files.push(Vec::new());
            state.link(path, file)?;
            file
        } else {
            state.call(Call::Read)?;
            state.file(path)?
        };
        Ok(Box::new(SimFile { sim: self.clone(), file }))
    }

    fn create_unnamed(&self, directory: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.call(Call::Takes)?;
        state.check_directory(directory)?;
        let file = state.files.len();
        state.files.push(Vec::new());
        Ok(Box::new(SimFile { sim: self.clone(), file }))
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.call(Call::Frees)?;
        state.file(path)?;
        state.names.remove(path);
        state.log.push(Op::Unlink(path.to_owned()));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.call(Call::Takes)?;
        let file = state.file(from)?;
        state.names.remove(from);
        state.names.insert(to.to_owned(), file);
        state.log.push(Op::Rename(from.to_owned(), to.to_owned(), file));
        Ok(())
    }

    fn free_space(&self, _: &Path) -> io::Result<u64> {
        Ok(self.state().free_space.unwrap_or(u64::MAX))
    }

    fn lock(&self, _: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>> {
        let mut state = self.state();
        let was_locked = std::mem::replace(&mut state.is_locked, true);
        Ok((!was_locked).then(|| Box::new(Unlock(self.clone())) as Box<dyn Any + Send + Sync>))
    }
}

struct Unlock(Sim);

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.state().is_locked = false;
    }
}

#[derive(Debug)]
struct SimFile {
    sim: Sim,
    file: usize,
}

impl DiskFile for SimFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.sim.state().files[self.file].len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.sim.state();
        state.call(Call::Read)?;
        let data = state.files[self.file].get(offset as usize..).unwrap_or_default();
        let length = data.len().min(buffer.len());
        buffer[..length].copy_from_slice(&data[..length]);
        Ok(length)
    }

    fn read_cached_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_at(buffer, offset)
    }

    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let mut state = self.sim.state();
        let is_short = state.call(Call::Write)?;
        let mut data = slices.iter().flat_map(|slice| slice.iter().copied()).collect::<Vec<u8>>();
        if is_short {
            data.truncate(data.len().div_ceil(2));
        }
        write(&mut state.files[self.file], offset as usize, &data);
        let length = data.len();
        state.log.push(Op::Write(self.file, offset, data));
        Ok(length)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut state = self.sim.state();
        let takes = length > state.files[self.file].len() as u64;
        state.call(if takes { Call::Takes } else { Call::Frees })?;
        state.files[self.file].resize(length as usize, 0);
        state.log.push(Op::SetLength(self.file, length));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.sim.state();
        let result = state.call(Call::Takes);
        state.log.push(if result.is_ok() { Op::Sync(self.file) } else { Op::SyncFailed(self.file) });
        result.map(drop)
    }

    fn link(&self, path: &Path) -> io::Result<()> {
        let mut state = self.sim.state();
        state.call(Call::Takes)?;
        state.link(path, self.file)
    }
}
