//! How many requests go on at once: fewer when the service is short of room, more again while it answers.
//!
//! The number is halved when a request is refused for lack of room, once for all that were sent before that, and
//! grows by one when as many requests were answered (additive increase, multiplicative decrease).

use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Leave to send requests.
#[derive(Debug)]
pub(super) struct Limiter {
    semaphore: Arc<Semaphore>,
    state: Mutex<State>,
    most: usize,
}

#[derive(Debug)]
struct State {
    limit: usize,
    /// Permits that are out and must not come back, since the limit fell below what was in use.
    debt: usize,
    /// Requests answered since the limit changed.
    answered: usize,
    /// How often the limit fell.
    falls: u64,
}

/// Leave for one request, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    limiter: Arc<Limiter>,
    permit: Option<OwnedSemaphorePermit>,
    /// How often the limit had fallen when the request began.
    falls: u64,
}

impl Limiter {
    pub(super) fn new(most: usize) -> Arc<Limiter> {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        let state = State { limit: most, debt: 0, answered: 0, falls: 0 };
        Arc::new(Limiter { semaphore: Arc::new(Semaphore::new(most)), state: Mutex::new(state), most })
    }

    pub(super) async fn acquire(self: &Arc<Self>) -> Permit {
        // Never closed, so there is always a permit in the end.
        let permit = self.semaphore.clone().acquire_owned().await.ok();
        Permit { limiter: self.clone(), permit, falls: self.state().falls }
    }

    /// Returns how many requests may go on at once now.
    pub(super) fn limit(&self) -> usize {
        self.state().limit
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// Notes that the request was answered.
    pub(super) fn answered(&self) {
        let mut state = self.limiter.state();
        state.answered += 1;
        if state.answered < state.limit || state.limit == self.limiter.most {
            return;
        }
        state.answered = 0;
        state.limit += 1;
        match state.debt.checked_sub(1) {
            Some(debt) => state.debt = debt,
            None => self.limiter.semaphore.add_permits(1),
        }
    }

    /// Notes that the request was refused for lack of room.
    pub(super) fn refused(&self) {
        let mut state = self.limiter.state();
        if state.falls > self.falls {
            return;
        }
        let fall = state.limit - (state.limit / 2).max(1);
        state.limit -= fall;
        state.falls += 1;
        state.answered = 0;
        state.debt += fall - self.limiter.semaphore.forget_permits(fall);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else { return };
        let mut state = self.limiter.state();
        if let Some(debt) = state.debt.checked_sub(1) {
            state.debt = debt;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn take(limiter: &Arc<Limiter>, count: usize) -> Vec<Permit> {
        let mut permits = Vec::new();
        for _ in 0..count {
            permits.push(limiter.acquire().await);
        }
        permits
    }

    #[tokio::test]
    async fn falls_and_rises() {
        let limiter = Limiter::new(8);
        let permits = take(&limiter, 8).await;
        assert_eq!(limiter.semaphore.available_permits(), 0);
        permits.iter().for_each(Permit::refused);
        assert_eq!(limiter.limit(), 4, "one fall for all that were sent before");
        drop(permits);
        assert_eq!(limiter.semaphore.available_permits(), 4);

        for limit in [2, 1, 1] {
            let permit = limiter.acquire().await;
            permit.refused();
            assert_eq!(limiter.limit(), limit);
            drop(permit);
            assert_eq!(limiter.semaphore.available_permits(), limit);
        }
        let mut answers = 0;
        while limiter.limit() < 8 {
            limiter.acquire().await.answered();
            answers += 1;
        }
        assert_eq!(answers, 1 + 2 + 3 + 4 + 5 + 6 + 7);
        (0..100).for_each(|_| limiter.state().answered += 1);
        limiter.acquire().await.answered();
        assert_eq!((limiter.limit(), limiter.semaphore.available_permits()), (8, 8));
    }

    #[tokio::test]
    async fn rises_while_all_is_in_use() {
        let limiter = Limiter::new(4);
        let permits = take(&limiter, 4).await;
        permits[0].refused();
        assert_eq!((limiter.limit(), limiter.state().debt), (2, 2));
        permits[1].answered();
        permits[2].answered();
        assert_eq!((limiter.limit(), limiter.state().debt), (3, 1));
        drop(permits);
        assert_eq!(limiter.semaphore.available_permits(), 3);
    }

    #[tokio::test]
    async fn there_is_always_one() {
        let limiter = Limiter::new(0);
        limiter.acquire().await.refused();
        assert_eq!((limiter.limit(), limiter.semaphore.available_permits()), (1, 1));
    }
}
