//! The thread that asks event loops to look at what the engine has woken.
//!
//! The engine's threads must not wait for the interpreter, so a waker only sends what waits to this one. However many are
//! woken, each loop is asked once, for all of them.

use super::lock;
use super::waiter::{Waiter, Woken};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

pub(super) type Caller = Sender<Arc<Waiter>>;

/// Whether this process's interpreter is about to end. Callers hold it while they ask for the interpreter: CPython before
/// 3.13 ends a thread that asks too late from inside, which aborts the process as it passes through Rust.
type Ending = Arc<Mutex<bool>>;

/// That of this process, with its number. A forked child has one of its own: a caller that it has not may hold its parent's.
static ENDING: Mutex<Option<(u32, Ending)>> = Mutex::new(None);

fn ending(py: Python<'_>) -> PyResult<Ending> {
    let process = std::process::id();
    let ending = Ending::default();
    {
        // Nothing in here lets go of the interpreter, so that no fork finds it locked.
        let mut known = lock(&ENDING);
        if let Some((of, known)) = &*known
            && *of == process
        {
            return Ok(known.clone());
        }
        *known = Some((process, ending.clone()));
    }
    let end = ending.clone();
    let at_exit = PyCFunction::new_closure(py, None, None, move |arguments, _| {
        if std::process::id() == process {
            // Callers that wait for the interpreter get it now, for the last time.
            arguments.py().detach(|| *lock(&end) = true);
        }
    })?;
    py.import("atexit")?.call_method1("register", (at_exit,))?;
    Ok(ending)
}

/// Starts the thread. It ends with the engine and what waits for it.
pub(super) fn start(py: Python<'_>) -> PyResult<Caller> {
    let (sender, receiver) = channel::<Arc<Waiter>>();
    let ending = ending(py)?;
    let work = move || {
        while let Ok(first) = receiver.recv() {
            let ending = lock(&ending);
            if *ending {
                return;
            }
            // With all that were woken until the interpreter was there.
            let called = Python::try_attach(|py| call(py, std::iter::once(first).chain(receiver.try_iter())));
            if called.is_none() {
                // The interpreter is gone.
                return;
            }
        }
    };
    std::thread::Builder::new().name("manyhash-asyncio".to_owned()).spawn(work)?;
    Ok(sender)
}

/// Asks each loop to look at its own.
fn call(py: Python<'_>, woken: impl Iterator<Item = Arc<Waiter>>) {
    let mut loops: Vec<Vec<Arc<Waiter>>> = Vec::new();
    for waiter in woken {
        match loops.iter_mut().find(|waiters| waiters[0].of.event_loop.is(&waiter.of.event_loop)) {
            Some(waiters) => waiters.push(waiter),
            None => loops.push(vec![waiter]),
        }
    }
    for waiters in loops {
        let event_loop = waiters[0].of.event_loop.clone_ref(py);
        let asked = Woken::new(py, waiters).and_then(|woken| {
            let asked = event_loop.bind(py).call_method1("call_soon_threadsafe", (&woken,));
            // If the loop is closed, nobody will ever look.
            asked.inspect_err(|_| woken.get().give_up(py))
        });
        drop(asked);
    }
}
