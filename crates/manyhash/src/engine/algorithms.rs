//! One algorithm or several for the same bytes.

use crate::{Algorithm, Digest};

mod sealed {
    pub trait Sealed {}
}

/// One algorithm or several: an [`Algorithm`], or an array or a `Vec` of them.
///
/// The digests are in the same order. The bytes are read from memory once for all algorithms.
pub trait Algorithms: sealed::Sealed {
    /// A [`Digest`], or a digest per algorithm in the same kind of collection.
    type Digests;

    #[doc(hidden)]
    fn list(&self) -> &[Algorithm];

    #[doc(hidden)]
    fn digests(digests: Vec<Digest>) -> Self::Digests;

    /// The digests of a whole message.
    #[doc(hidden)]
    fn digest(&self, bytes: &[u8]) -> Self::Digests {
        Self::digests(self.list().iter().map(|algorithm| crate::digest(*algorithm, bytes)).collect())
    }
}

impl sealed::Sealed for Algorithm {}

impl Algorithms for Algorithm {
    type Digests = Digest;

    fn list(&self) -> &[Algorithm] {
        std::slice::from_ref(self)
    }

    fn digests(digests: Vec<Digest>) -> Digest {
        digests.into_iter().next().unwrap_or_default()
    }

    fn digest(&self, bytes: &[u8]) -> Digest {
        crate::digest(*self, bytes)
    }
}

impl<const N: usize> sealed::Sealed for [Algorithm; N] {}

impl<const N: usize> Algorithms for [Algorithm; N] {
    type Digests = [Digest; N];

    fn list(&self) -> &[Algorithm] {
        self
    }

    fn digests(digests: Vec<Digest>) -> [Digest; N] {
        let mut digests = digests.into_iter();
        std::array::from_fn(|_| digests.next().unwrap_or_default())
    }
}

impl sealed::Sealed for Vec<Algorithm> {}

impl Algorithms for Vec<Algorithm> {
    type Digests = Vec<Digest>;

    fn list(&self) -> &[Algorithm] {
        self
    }

    fn digests(digests: Vec<Digest>) -> Vec<Digest> {
        digests
    }
}
