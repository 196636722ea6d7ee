//! Two sides side by side.

use super::entry::Entry;
use super::outcome::{Outcome, State, Unverified};
use super::side::{Item, Side, SideError, Walk};
use crate::remote::Remote;
use std::cmp::Ordering;
use std::io;

/// The names of two sides, in their order.
pub(super) struct Merge<R> {
    walks: [Walk<R>; 2],
    pub(super) heads: [Option<Item>; 2],
    /// Whether an object that stands for a directory is one: no tree and no list of digests has such.
    has_folders: bool,
    /// Of each side, the directory that could not be looked at last.
    unreadable: [Option<(Vec<u8>, io::ErrorKind)>; 2],
    is_over: bool,
}

/// A name.
#[derive(Debug)]
pub(super) enum Pair {
    /// Both sides have it.
    Both(Box<[Entry; 2]>),
    /// What comes of it is clear.
    Clear(Outcome),
}

impl<R: Remote> Merge<R> {
    pub(super) fn new(sides: [Side<R>; 2]) -> Merge<R> {
        let has_folders = sides.iter().all(|side| matches!(side, Side::Bucket { .. }));
        Merge {
            walks: sides.map(Walk::new),
            heads: [None, None],
            has_folders,
            unreadable: [None, None],
            is_over: false,
        }
    }

    /// The pages of lists that were asked for, of each side.
    pub(super) fn pages(&self) -> [u64; 2] {
        [self.walks[0].pages, self.walks[1].pages]
    }

    /// The next name; none at the end, or after an error.
    pub(super) async fn next(&mut self) -> Result<Option<Pair>, SideError> {
        if self.is_over {
            return Ok(None);
        }
        let next = self.pair().await;
        self.is_over = !matches!(next, Ok(Some(_)));
        next
    }

    async fn pair(&mut self) -> Result<Option<Pair>, SideError> {
        let [a, b] = &mut self.heads;
        let [x, y] = &mut self.walks;
        // Both at once: each may be waiting for a page.
        let (a, b) = futures_util::future::join(head(a, x, self.has_folders), head(b, y, self.has_folders)).await;
        a?;
        b?;
        let order = match &self.heads {
            [None, None] => return Ok(None),
            [Some(_), None] => Ordering::Less,
            [None, Some(_)] => Ordering::Greater,
            [Some(a), Some(b)] => a.name().cmp(b.name()),
        };
        let first = if order.is_le() { self.heads[0].take() } else { None };
        let second = if order.is_ge() { self.heads[1].take() } else { None };
        Ok(Some(match (first, second) {
            (Some(Item::Entry(a)), Some(Item::Entry(b))) => Pair::Both(Box::new([*a, *b])),
            (Some(Item::Unreadable(name, error)), _) => self.cannot_read(0, name, error),
            (_, Some(Item::Unreadable(name, error))) => self.cannot_read(1, name, error),
            (Some(Item::Entry(a)), None) => self.alone(1, *a, State::Missing),
            (None, Some(Item::Entry(b))) => self.alone(0, *b, State::Extra),
            (None, None) => return Ok(None),
        }))
    }

    fn cannot_read(&mut self, side: usize, name: Vec<u8>, error: io::Error) -> Pair {
        if name.ends_with(b"/") {
            self.unreadable[side] = Some((name.clone(), error.kind()));
        }
        let state = State::Unverified(Unverified::Unreadable(error));
        Pair::Clear(Outcome { name, size: None, state, stamp: None })
    }

    /// One side has it, and `other` has not, unless that could not be looked at.
    fn alone(&self, other: usize, entry: Entry, state: State) -> Pair {
        let state = match &self.unreadable[other] {
            Some((directory, kind)) if entry.name().starts_with(directory) => {
                State::Unverified(Unverified::Unreadable((*kind).into()))
            }
            _ => state,
        };
        let size = entry.size();
        Pair::Clear(Outcome { name: entry.name, size, state, stamp: None })
    }
}

/// Fills the place of the next item.
async fn head<R: Remote>(head: &mut Option<Item>, walk: &mut Walk<R>, has_folders: bool) -> Result<(), SideError> {
    while head.is_none() {
        match walk.next().await? {
            Some(Item::Entry(entry)) if !has_folders && entry.is_folder() => {}
            Some(item) => *head = Some(item),
            None => break,
        }
    }
    Ok(())
}
