//! The answer to a change, as a future.

use crate::writer::{Message, Pending};
use crate::{Change, CommitError, Committed};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use tokio::sync::oneshot;

/// A change that is being made. It ends when the change is durable, or was not made.
///
/// It depends on no runtime.
#[derive(Debug)]
#[must_use = "without the answer, nobody knows whether the change was made"]
pub struct Commit {
    answer: oneshot::Receiver<Result<Committed, CommitError>>,
}

impl Commit {
    pub(crate) fn new(change: Change) -> (Message, Commit) {
        let (sender, answer) = oneshot::channel();
        (Message::Change(Box::new(Pending { change, answer: sender })), Commit { answer })
    }

    /// Waits on this thread.
    ///
    /// # Errors
    /// The change was not made.
    pub fn wait(self) -> Result<Committed, CommitError> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let (mut commit, mut context) = (pin!(self), Context::from_waker(&waker));
        loop {
            match commit.as_mut().poll(&mut context) {
                Poll::Ready(answer) => return answer,
                Poll::Pending => thread::park(),
            }
        }
    }
}

impl Future for Commit {
    type Output = Result<Committed, CommitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Without an answer, the writer has ended.
        Pin::new(&mut self.answer).poll(context).map(|answer| answer.unwrap_or(Err(CommitError::Closed)))
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
