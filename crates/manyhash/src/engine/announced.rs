//! Requests in progress whose bodies will come: a hint that callers give, which ages by itself.

use std::time::{Duration, Instant};

/// How long a request counts: a client that takes longer to send its body does not come at the same time as others.
const SPAN: Duration = Duration::from_millis(1);

/// Requests that were announced in the present span and in the one before it.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// When the present span began.
    begun: Option<Instant>,
    /// The present one's number.
    span: u64,
    counts: [usize; 2],
}

/// When a request was announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AnnouncedAt(u64);

impl Announced {
    pub(super) fn add(&mut self, now: Instant) -> AnnouncedAt {
        self.age(now);
        self.counts[0] += 1;
        AnnouncedAt(self.span)
    }

    /// The request is over.
    pub(super) fn remove(&mut self, AnnouncedAt(span): AnnouncedAt, now: Instant) {
        self.age(now);
        if let Some(count) = self.counts.get_mut((self.span - span) as usize) {
            *count -= 1;
        }
    }

    /// Requests that may bring their bodies at the same time.
    pub(super) fn count(&mut self, now: Instant) -> usize {
        self.age(now);
        self.counts.iter().sum()
    }

    fn age(&mut self, now: Instant) {
        let begun = *self.begun.get_or_insert(now);
        let spans = now.saturating_duration_since(begun).as_nanos() / SPAN.as_nanos();
        if spans > 0 {
            self.begun = Some(now);
            self.counts = if spans == 1 { [0, self.counts[0]] } else { [0, 0] };
            self.span += u64::try_from(spans).unwrap_or(u64::MAX).min(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Announced, SPAN};
    use std::time::Instant;

    #[test]
    fn a_request_counts_for_a_while() {
        let (mut announced, start) = (Announced::default(), Instant::now());
        let first = announced.add(start);
        let second = announced.add(start + SPAN / 2);
        assert_eq!(announced.count(start), 2);
        announced.remove(second, start + SPAN);
        assert_eq!(announced.count(start + SPAN), 1);
        let third = announced.add(start + SPAN);
        assert_eq!(announced.count(start + 2 * SPAN), 1);
        announced.remove(first, start + 2 * SPAN);
        announced.remove(third, start + 2 * SPAN);
        assert_eq!(announced.count(start + 2 * SPAN), 0);
        announced.add(start + 2 * SPAN);
        assert_eq!((announced.count(start + 9 * SPAN), announced.count(start + 100 * SPAN)), (0, 0));
    }
}
