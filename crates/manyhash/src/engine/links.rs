//! Doubly linked lists of indices: each index is in one list at most, and moves to another in constant time.

/// The links of all lists of a set.
#[derive(Debug, Default)]
pub(super) struct Links(Vec<Link>);

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
}

/// No index.
const NONE: u32 = u32::MAX;

/// One list.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
    last: u32,
    length: usize,
}

impl Links {
    fn link(&mut self, index: u32) -> &mut Link {
        let index = index as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, Link { previous: NONE, next: NONE });
        }
        &mut self.0[index]
    }
}

impl List {
    pub(super) const EMPTY: List = List { first: NONE, last: NONE, length: 0 };

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// From the first to the last.
    pub(super) fn iter(self, links: &Links) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.first(), |index| {
            let next = links.0[*index as usize].next;
            (next != NONE).then_some(next)
        })
    }

    /// Adds an index that is in no list, as the last.
    pub(super) fn push_back(&mut self, links: &mut Links, index: u32) {
        *links.link(index) = Link { previous: self.last, next: NONE };
        match self.last {
            NONE => self.first = index,
            last => links.link(last).next = index,
        }
        self.last = index;
        self.length += 1;
    }

    /// Adds an index that is in no list, as the first.
    pub(super) fn push_front(&mut self, links: &mut Links, index: u32) {
        *links.link(index) = Link { previous: NONE, next: self.first };
        match self.first {
            NONE => self.last = index,
            first => links.link(first).previous = index,
        }
        self.first = index;
        self.length += 1;
    }

    /// Takes out an index that is in this list.
    pub(super) fn remove(&mut self, links: &mut Links, index: u32) {
        let Link { previous, next } = *links.link(index);
        match previous {
            NONE => self.first = next,
            previous => links.link(previous).next = next,
        }
        match next {
            NONE => self.last = previous,
            next => links.link(next).previous = previous,
        }
        self.length -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Links, List};

    #[test]
    fn indices_keep_their_order() {
        let mut links = Links::default();
        let mut list = List::EMPTY;
        let all = |list: List, links: &Links| list.iter(links).collect::<Vec<_>>();
        assert_eq!((list.first(), all(list, &links)), (None, vec![]));
        for index in [3, 0, 5] {
            list.push_back(&mut links, index);
        }
        list.push_front(&mut links, 4);
        assert_eq!((list.len(), all(list, &links)), (4, vec![4, 3, 0, 5]));
        list.remove(&mut links, 0);
        assert_eq!(all(list, &links), [4, 3, 5]);
        list.remove(&mut links, 5);
        list.remove(&mut links, 4);
        assert_eq!((list.first(), list.len()), (Some(3), 1));
        list.remove(&mut links, 3);
        assert_eq!((list.first(), list.len()), (None, 0));
    }
}
