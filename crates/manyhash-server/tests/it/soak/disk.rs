//! The system's files, made to fail, and to lose power while a server uses them.
//!
//! What is written goes to real files, so that a store can be checked where it lies. Beside them is kept what each page
//! held when it was last synced, and which names no sync of their directory has made durable. When the power fails, all of
//! that which does not survive is put back. After a sync that failed, what it was to make durable counts as not durable
//! until it is written again.
//!
//! Each server has a [`Disk`] of its own, which fails for ever once its server is over: what is left of it changes nothing.

use super::storm::{Call, Faults};
use manyhash_store::disk::{Access, Disk, DiskFile, Filesystem};
use rand::rngs::SmallRng;
use rand::{Rng, RngExt};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What survives a power failure or does not, as a whole.
const PAGE: u64 = 512;

/// A file's number.
type Id = u64;

/// The files under a directory, whoever uses them.
#[derive(Debug)]
pub(super) struct Platter {
    state: RwLock<State>,
    /// Where files are that have lost their names, until that is durable.
    graves: PathBuf,
    pub(super) faults: Faults,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the server that may use it.
    life: u64,
    locked: Option<u64>,
    names: HashMap<PathBuf, Id>,
    next: Id,
    files: HashMap<Id, Unsynced>,
    changes: Vec<Change>,
}

/// What of a file is not durable.
#[derive(Debug)]
struct Unsynced {
    file: Arc<dyn DiskFile>,
    /// The length that is durable.
    length: u64,
    /// What pages held that were written since: less than a page, or nothing, where the file ended.
    dirty: HashMap<u64, Vec<u8>>,
    /// The same of pages that a sync has failed on.
    lost: HashMap<u64, Vec<u8>>,
}

/// A change of names that is not durable.
#[derive(Debug)]
enum Change {
    Directory(PathBuf),
    Created(PathBuf),
    Removed { path: PathBuf, grave: PathBuf, id: Id },
    Renamed { from: PathBuf, to: PathBuf, replaced: Option<(PathBuf, Id)> },
}

impl Change {
    fn path(&self) -> &Path {
        match self {
            Change::Directory(path) | Change::Created(path) | Change::Removed { path, .. } => path,
            Change::Renamed { to, .. } => to,
        }
    }

    fn grave(&self) -> Option<(&Path, Id)> {
        match self {
            Change::Removed { grave, id, .. } => Some((grave, *id)),
            Change::Renamed { replaced: Some((grave, id)), .. } => Some((grave, *id)),
            _ => None,
        }
    }
}

/// What is not durable, and survives a power failure all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Survives {
    Nothing,
    Everything,
    Some,
}

impl Platter {
    /// Keeps what has lost its name in `graves`, on the same file system.
    pub(super) fn new(graves: PathBuf, random: SmallRng) -> Arc<Self> {
        fs::create_dir(&graves).unwrap();
        Arc::new(Platter { state: RwLock::default(), graves, faults: Faults::new(random) })
    }

    /// The disk of the next server. That of the last one fails from now on.
    pub(super) fn next_life(self: &Arc<Self>) -> Arc<dyn Disk> {
        let mut state = self.write();
        state.life += 1;
        Arc::new(Life { platter: self.clone(), life: state.life })
    }

    /// Takes the disk away from its server, and all that does not survive. Says how many pages and names are lost.
    pub(super) fn lose_power(&self, survives: Survives, random: &mut impl Rng) -> (usize, usize) {
        let mut state = self.write();
        state.life += 1;
        let mut decide = || match survives {
            Survives::Nothing => false,
            Survives::Everything => true,
            Survives::Some => random.random(),
        };
        let (mut pages, mut names) = (0, 0);
        for unsynced in state.files.values() {
            pages += unsynced.revert(&mut decide).unwrap();
        }
        // A name has one history: what came before a change that survives has survived.
        let mut settled = HashSet::new();
        for change in std::mem::take(&mut state.changes).iter().rev() {
            if settled.contains(change.path()) || decide() {
                settled.insert(change.path().to_owned());
                if let Some((grave, _)) = change.grave() {
                    fs::remove_file(grave).unwrap();
                }
                continue;
            }
            names += 1;
            state.revert(change).unwrap();
        }
        state.files.clear();
        (pages, names)
    }

    /// Makes everything durable, as time does.
    pub(super) fn settle(&self) {
        let mut state = self.write();
        state.life += 1;
        for (grave, _) in std::mem::take(&mut state.changes).iter().filter_map(Change::grave) {
            fs::remove_file(grave).unwrap();
        }
        state.files.clear();
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self) -> Id {
        self.next += 1;
        self.next
    }

    fn file(&mut self, id: Id, file: &Arc<dyn DiskFile>) -> io::Result<&mut Unsynced> {
        let length = file.length()?;
        let unsynced = || Unsynced { file: file.clone(), length, dirty: HashMap::new(), lost: HashMap::new() };
        Ok(self.files.entry(id).or_insert_with(unsynced))
    }

    /// Moves a file out of the way, for as long as its name may come back.
    fn bury(&mut self, path: &Path, graves: &Path) -> io::Result<(PathBuf, Id)> {
        let number = self.number();
        let grave = graves.join(number.to_string());
        fs::rename(path, &grave)?;
        Ok((grave, self.names.remove(path).unwrap_or(number)))
    }

    fn revert(&mut self, change: &Change) -> io::Result<()> {
        match change {
            Change::Directory(path) => {
                self.names.retain(|name, _| !name.starts_with(path));
                fs::remove_dir_all(path)
            }
            Change::Created(path) => {
                self.names.remove(path);
                fs::remove_file(path)
            }
            Change::Removed { path, grave, id } => {
                self.names.insert(path.clone(), *id);
                fs::rename(grave, path)
            }
            Change::Renamed { from, to, replaced } => {
                fs::rename(to, from)?;
                if let Some(id) = self.names.remove(to) {
                    self.names.insert(from.clone(), id);
                }
                if let Some((grave, id)) = replaced {
                    self.names.insert(to.clone(), *id);
                    fs::rename(grave, to)?;
                }
                Ok(())
            }
        }
    }
}

impl Unsynced {
    /// Notes what the pages of a range hold that is about to change.
    fn touch(&mut self, start: u64, end: u64) -> io::Result<()> {
        for page in start / PAGE..end.div_ceil(PAGE) {
            if let Some(held) = self.lost.remove(&page) {
                self.dirty.insert(page, held);
            }
            if self.dirty.contains_key(&page) {
                continue;
            }
            let mut held = vec![0; self.length.saturating_sub(page * PAGE).min(PAGE) as usize];
            let mut filled = 0;
            while filled < held.len() {
                match self.file.read_at(&mut held[filled..], page * PAGE + filled as u64)? {
                    0 => break,
                    read => filled += read,
                }
            }
            self.dirty.insert(page, held);
        }
        Ok(())
    }

    fn synced(&mut self) -> io::Result<()> {
        self.dirty.clear();
        self.length = self.file.length()?;
        Ok(())
    }

    fn sync_failed(&mut self) {
        self.lost.extend(self.dirty.drain());
    }

    /// Puts back what does not survive, and says how many pages that were.
    fn revert(&self, decide: &mut impl FnMut() -> bool) -> io::Result<usize> {
        let now = self.file.length()?;
        let length = if now == self.length || decide() { now } else { self.length };
        self.file.set_length(length)?;
        let mut count = 0;
        for (page, held) in self.dirty.iter().chain(&self.lost) {
            if decide() {
                continue;
            }
            count += 1;
            let room = length.saturating_sub(page * PAGE).min(PAGE) as usize;
            let mut held = held.clone();
            held.resize(room, 0);
            let mut written = 0;
            while written < held.len() {
                written += self.file.write_at(&[IoSlice::new(&held[written..])], page * PAGE + written as u64)?;
            }
        }
        Ok(count)
    }
}

/// The disk as one server has it.
#[derive(Clone, Debug)]
struct Life {
    platter: Arc<Platter>,
    life: u64,
}

/// What a disk says that is not there any more.
fn gone() -> io::Error {
    io::Error::other("the power has failed")
}

impl Life {
    /// Reads, if the disk lets it.
    fn look(&self) -> io::Result<RwLockReadGuard<'_, State>> {
        self.platter.faults.strike(Call::Read)?;
        let state = self.platter.read();
        if state.life == self.life { Ok(state) } else { Err(gone()) }
    }

    /// Changes something, if the disk lets it. What is given with it is whether it is to be done by half.
    fn touch(&self, call: Call) -> io::Result<(RwLockWriteGuard<'_, State>, bool)> {
        let is_short = self.platter.faults.strike(call)?;
        self.living().map(|state| (state, is_short))
    }

    fn living(&self) -> io::Result<RwLockWriteGuard<'_, State>> {
        let state = self.platter.write();
        if state.life == self.life { Ok(state) } else { Err(gone()) }
    }

    fn boxed(&self, id: Id, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(LivingFile { disk: self.clone(), id, file: file.into() })
    }
}

impl Disk for Life {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let (mut state, _) = self.touch(Call::Takes)?;
        if !path.is_dir() {
            fs::create_dir(path)?;
            state.changes.push(Change::Directory(path.to_owned()));
        }
        Ok(())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let (mut state, _) = self.touch(Call::Sync)?;
        let is_in = |change: &mut Change| change.path().parent() == Some(path);
        let durable: Vec<Change> = state.changes.extract_if(.., is_in).collect();
        for (grave, id) in durable.iter().filter_map(Change::grave) {
            state.files.remove(&id);
            fs::remove_file(grave)?;
        }
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let _state = self.look()?;
        Filesystem.list(path)
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let (mut state, _) = self.touch(if access == Access::Create { Call::Takes } else { Call::Read })?;
        let file = Filesystem.open(path, access)?;
        if access == Access::Create {
            state.changes.push(Change::Created(path.to_owned()));
        }
        let next = state.number();
        let id = *state.names.entry(path.to_owned()).or_insert(next);
        Ok(self.boxed(id, file))
    }

    fn create_unnamed(&self, directory: &Path) -> io::Result<Box<dyn DiskFile>> {
        let (mut state, _) = self.touch(Call::Takes)?;
        let file = Filesystem.create_unnamed(directory)?;
        Ok(self.boxed(state.number(), file))
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        let (mut state, _) = self.touch(Call::Frees)?;
        let (grave, id) = state.bury(path, &self.platter.graves)?;
        state.changes.push(Change::Removed { path: path.to_owned(), grave, id });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (mut state, _) = self.touch(Call::Takes)?;
        let replaced = if to.exists() { Some(state.bury(to, &self.platter.graves)?) } else { None };
        fs::rename(from, to)?;
        if let Some(id) = state.names.remove(from) {
            state.names.insert(to.to_owned(), id);
        }
        // Its first name is as good as never given.
        state.changes.retain(|change| !matches!(change, Change::Created(path) if path == from));
        state.changes.push(Change::Renamed { from: from.to_owned(), to: to.to_owned(), replaced });
        Ok(())
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        let _state = self.look()?;
        Filesystem.free_space(path)
    }

    fn lock(&self, _: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>> {
        let mut state = self.living()?;
        if state.locked == Some(self.life) {
            return Ok(None);
        }
        state.locked = Some(self.life);
        Ok(Some(Box::new(Unlock(self.clone()))))
    }
}

struct Unlock(Life);

impl Drop for Unlock {
    fn drop(&mut self) {
        if let Ok(mut state) = self.0.living() {
            state.locked = None;
        }
    }
}

#[derive(Debug)]
struct LivingFile {
    disk: Life,
    id: Id,
    file: Arc<dyn DiskFile>,
}

impl DiskFile for LivingFile {
    fn length(&self) -> io::Result<u64> {
        let state = self.disk.platter.read();
        if state.life == self.disk.life { self.file.length() } else { Err(gone()) }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let _state = self.disk.look()?;
        self.file.read_at(buffer, offset)
    }

    fn read_cached_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let _state = self.disk.look()?;
        self.file.read_cached_at(buffer, offset)
    }

    fn write_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let (mut state, is_short) = self.disk.touch(Call::Write)?;
        let length: usize = slices.iter().map(|slice| slice.len()).sum();
        state.file(self.id, &self.file)?.touch(offset, offset + length as u64)?;
        if is_short {
            let half: Vec<u8> =
                slices.iter().flat_map(|slice| slice.iter().copied()).take(length.div_ceil(2)).collect();
            return self.file.write_at(&[IoSlice::new(&half)], offset);
        }
        self.file.write_at(slices, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let now = self.file.length()?;
        let (mut state, _) = self.disk.touch(if length > now { Call::Takes } else { Call::Frees })?;
        state.file(self.id, &self.file)?.touch(length.min(now), now)?;
        self.file.set_length(length)
    }

    fn sync(&self) -> io::Result<()> {
        let outcome = self.disk.platter.faults.strike(Call::Sync);
        let mut state = self.disk.living()?;
        if let Some(unsynced) = state.files.get_mut(&self.id) {
            match &outcome {
                Ok(_) => unsynced.synced()?,
                Err(_) => unsynced.sync_failed(),
            }
            if unsynced.lost.is_empty() && unsynced.dirty.is_empty() {
                state.files.remove(&self.id);
            }
        }
        outcome.map(drop)
    }

    fn link(&self, path: &Path) -> io::Result<()> {
        let (mut state, _) = self.disk.touch(Call::Takes)?;
        self.file.link(path)?;
        state.names.insert(path.to_owned(), self.id);
        state.changes.push(Change::Created(path.to_owned()));
        Ok(())
    }
}

impl Drop for LivingFile {
    fn drop(&mut self) {
        let Ok(mut state) = self.disk.living() else { return };
        // A file without a name is gone with its last owner.
        if state.files.contains_key(&self.id) && !state.names.values().any(|id| *id == self.id) {
            state.files.remove(&self.id);
        }
    }
}
