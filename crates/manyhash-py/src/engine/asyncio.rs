//! What is asyncio's.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// asyncio's functions, looked up when an engine is made and not on the way.
pub(super) struct Asyncio {
    get_running_loop: Py<PyAny>,
    future: Py<PyAny>,
    resolve: Py<PyAny>,
    set_result: Py<PyString>,
}

impl Asyncio {
    pub(super) fn new(py: Python<'_>) -> PyResult<Self> {
        let asyncio = py.import("asyncio")?;
        Ok(Asyncio {
            get_running_loop: asyncio.getattr("get_running_loop")?.unbind(),
            future: asyncio.getattr("Future")?.unbind(),
            resolve: py.import("manyhash._futures")?.getattr("resolve")?.unbind(),
            set_result: PyString::intern(py, "set_result").unbind(),
        })
    }

    /// The loop that runs.
    ///
    /// # Errors
    /// RuntimeError if none does.
    pub(super) fn running_loop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.get_running_loop.bind(py).call0()
    }

    /// A future of the loop that runs.
    pub(super) fn future<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.future.bind(py).call0()
    }

    /// Gives a future that nobody else has its result.
    pub(super) fn set_result(&self, future: &Bound<'_, PyAny>, result: Bound<'_, PyAny>) -> PyResult<()> {
        future.call_method1(self.set_result.bind(future.py()), (result,)).map(drop)
    }

    /// Gives each future its result, unless it is cancelled.
    pub(super) fn resolve(&self, py: Python<'_>, results: Vec<(Py<PyAny>, Py<PyAny>)>) -> PyResult<()> {
        if results.is_empty() {
            return Ok(());
        }
        let (futures, results): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        self.resolve.bind(py).call1((PyList::new(py, futures)?, PyList::new(py, results)?))?;
        Ok(())
    }

    /// Gives a future an exception, unless it is cancelled.
    pub(super) fn fail(future: &Bound<'_, PyAny>, error: PyErr) -> PyResult<()> {
        if !is_done(future)? {
            future.call_method1("set_exception", (error,))?;
        }
        Ok(())
    }
}

/// Whether a future has a result, or is cancelled.
pub(super) fn is_done(future: &Bound<'_, PyAny>) -> PyResult<bool> {
    future.call_method0("done")?.is_truthy()
}
