//! What is said of an object's bytes, and what two sides' claims say together.
//!
//! A value of the same function of the same bytes is the same. That is all that is used here, and it goes one way more
//! safely than the other: values that are equal prove that bytes are, whatever they were said to be; values that differ
//! prove that bytes do only if both are surely what they were taken for. An entity tag may be no MD5, and digests of
//! parts differ if the parts do.

use super::function::{Function, Strength, of_one_part};
use manyhash::Digest;
use manyhash_s3::checksum::ChecksumAlgorithm;

/// Where a value is from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// The entity tag.
    ETag,
    /// A checksum that S3 keeps.
    Checksum,
    /// A list of digests.
    List,
    /// The bytes of a local file.
    File,
    /// The bytes of an object, which were downloaded.
    Download,
}

/// A value of an object's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// What it is a value of.
    pub form: Form,
    /// The value.
    pub value: Digest,
    /// Where it is from.
    pub origin: Origin,
}

impl Claim {
    /// Whether it was computed from the bytes.
    pub(super) fn is_computed(&self) -> bool {
        matches!(self.origin, Origin::File | Origin::Download)
    }
}

/// What a value is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// The bytes.
    Whole(Function),
    /// The values of the object's parts, one after another.
    Parts {
        /// The function, of the parts and of their values.
        algorithm: ChecksumAlgorithm,
        /// The number of parts.
        parts: u32,
    },
}

impl Form {
    /// Returns the function.
    pub fn function(&self) -> Function {
        match self {
            Form::Whole(function) => *function,
            Form::Parts { algorithm, .. } => Function::from(*algorithm),
        }
    }
}

/// Where an object was cut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Into parts of this size, and a last one that is no larger.
    Equal {
        /// Bytes of all parts but the last.
        part_bytes: u64,
        /// Whether that is known of all parts, and not of the first alone.
        is_sure: bool,
    },
    /// Into parts of these sizes.
    Sizes(Vec<u64>),
}

impl Layout {
    /// Returns the number of parts of an object of so many bytes, or `None` if they make no such object.
    pub fn parts(&self, size: u64) -> Option<u64> {
        match self {
            Layout::Equal { part_bytes: 0, .. } => None,
            Layout::Equal { part_bytes, .. } => Some(size.div_ceil(*part_bytes).max(1)),
            Layout::Sizes(sizes) => {
                let sum = sizes.iter().try_fold(0u64, |sum, size| sum.checked_add(*size))?;
                (sum == size && !sizes.is_empty() && !sizes.contains(&0)).then_some(sizes.len() as u64)
            }
        }
    }

    /// The sizes of the parts of an object of so many bytes.
    #[cfg(feature = "http")]
    pub(crate) fn sizes(&self, size: u64) -> Vec<u64> {
        match self {
            Layout::Equal { part_bytes, .. } => {
                let starts = (0..size).step_by(usize::try_from(*part_bytes).unwrap_or(usize::MAX).max(1));
                starts.map(|start| (*part_bytes).min(size - start)).collect()
            }
            Layout::Sizes(sizes) => sizes.clone(),
        }
    }

    /// Bytes of all parts but the last, if they are equal.
    #[cfg(feature = "http")]
    pub(crate) fn equal_part_bytes(&self) -> Option<u64> {
        match self {
            Layout::Equal { part_bytes, .. } => Some(*part_bytes),
            Layout::Sizes(sizes) => {
                let (last, before) = sizes.split_last()?;
                let first = *before.first().unwrap_or(last);
                (before.iter().all(|size| *size == first) && *last <= first).then_some(first)
            }
        }
    }

    /// Whether it is surely that.
    pub(super) fn is_sure(&self) -> bool {
        !matches!(self, Layout::Equal { is_sure: false, .. })
    }

    /// Whether an object of so many bytes was cut in the same places.
    pub(super) fn is_same(&self, other: &Layout, size: u64) -> bool {
        match (self, other) {
            (Layout::Equal { part_bytes: one, .. }, Layout::Equal { part_bytes: other, .. }) => {
                one == other || (*one >= size && *other >= size)
            }
            (Layout::Sizes(one), Layout::Sizes(other)) => one == other,
            (Layout::Equal { part_bytes, .. }, Layout::Sizes(sizes))
            | (Layout::Sizes(sizes), Layout::Equal { part_bytes, .. }) => match sizes.split_last() {
                Some((last, before)) => last <= part_bytes && before.iter().all(|size| size == part_bytes),
                None => false,
            },
        }
    }
}

/// What two sides' claims say together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    /// They have nothing in common.
    Nothing,
    /// Values are equal; the strongest that is, and where the two are from.
    Equal(Form, [Origin; 2]),
    /// Values differ that are surely of the same.
    Unequal(Form, [Origin; 2]),
    /// Values differ that are of the same if what each side has is what it was taken for.
    Doubtful(Form, [Doubt; 2]),
    /// Values are equal, and others differ.
    Contradiction,
}

/// What has to be known of a side before a difference of values is one of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Doubt {
    /// Whether its tag is made of MD5s.
    pub(super) tag: bool,
    /// Whether its parts are what they were taken for.
    pub(super) layout: bool,
}

/// A side, as far as claims go.
pub(super) struct Claims<'a> {
    pub(super) claims: &'a [Claim],
    /// Whether the tag is known to be made of MD5s, if the service keeps to S3's rules.
    pub(super) is_tag_sure: bool,
    /// Where the object was cut. A local file is cut as the other side.
    pub(super) layout: Option<&'a Layout>,
    pub(super) size: u64,
}

impl Claims<'_> {
    /// The claims that count. Where the bytes were downloaded, no other does.
    fn counting(&self) -> impl Iterator<Item = &Claim> + Clone {
        let is_downloaded = self.claims.iter().any(|claim| claim.origin == Origin::Download);
        self.claims.iter().filter(move |claim| !is_downloaded || claim.origin == Origin::Download)
    }
}

/// Compares what two sides claim of their bytes.
pub(super) fn compare(one: &Claims<'_>, other: &Claims<'_>) -> Comparison {
    let (mut equal, mut unequal, mut doubtful) = (None::<(Form, [Origin; 2])>, None, None::<(Form, [Doubt; 2])>);
    for a in one.counting() {
        for b in other.counting() {
            let Some((form, [x, y])) = in_common(a, b) else { continue };
            let origins = [a.origin, b.origin];
            if x == y {
                if equal.is_none_or(|(best, _): (Form, _)| best.function().rank() < form.function().rank()) {
                    equal = Some((form, origins));
                }
                continue;
            }
            if is_cut_elsewhere(form, (one, a), (other, b)) {
                continue;
            }
            let doubts = doubts(form, (one, a), (other, b));
            if doubts == [Doubt::default(); 2] {
                unequal = Some((form, origins));
            } else {
                doubtful.get_or_insert((form, doubts));
            }
        }
    }
    // Equal values of 16 bits prove nothing, and those of 32 not enough where something speaks against them.
    let least = if doubtful.is_some() { Strength::Accidental } else { Strength::Weak };
    let equal = equal.filter(|(form, _)| form.function().strength() >= least);
    match (equal, unequal, doubtful) {
        (Some(_), Some(_), _) => Comparison::Contradiction,
        (Some((form, origins)), None, _) => Comparison::Equal(form, origins),
        (None, Some((form, origins)), _) => Comparison::Unequal(form, origins),
        (None, None, Some((form, doubts))) => Comparison::Doubtful(form, doubts),
        (None, None, None) => Comparison::Nothing,
    }
}

/// The values of the same form that two claims have.
fn in_common(a: &Claim, b: &Claim) -> Option<(Form, [Digest; 2])> {
    if a.form == b.form {
        return Some((a.form, [a.value, b.value]));
    }
    // An object in one part: what its parts' values are is known from the whole's.
    match (a.form, b.form) {
        (Form::Parts { algorithm, parts: 1 }, Form::Whole(function)) if Function::from(algorithm) == function => {
            Some((a.form, [a.value, of_one_part(algorithm, &b.value)]))
        }
        (Form::Whole(function), Form::Parts { algorithm, parts: 1 }) if Function::from(algorithm) == function => {
            Some((b.form, [of_one_part(algorithm, &a.value), b.value]))
        }
        _ => None,
    }
}

/// Whether values are of parts of which nothing computed them for comparison, and that are known not to be the same.
fn is_cut_elsewhere(form: Form, (one, a): (&Claims<'_>, &Claim), (other, b): (&Claims<'_>, &Claim)) -> bool {
    if !matches!(form, Form::Parts { parts: 2.., .. }) || a.is_computed() || b.is_computed() {
        return false;
    }
    one.layout.zip(other.layout).is_some_and(|(x, y)| !x.is_same(y, one.size))
}

fn doubts(form: Form, (one, a): (&Claims<'_>, &Claim), (other, b): (&Claims<'_>, &Claim)) -> [Doubt; 2] {
    let tag = |side: &Claims<'_>, claim: &Claim| claim.origin == Origin::ETag && !side.is_tag_sure;
    let mut doubts = [(one, a), (other, b)].map(|(side, claim)| Doubt { tag: tag(side, claim), layout: false });
    if matches!(form, Form::Parts { parts: 2.., .. }) {
        // Computed values are of parts as the other side has them, so that its layout alone is in question.
        let is_known = |side: &Claims<'_>| side.layout.is_some_and(Layout::is_sure);
        doubts[0].layout = !a.is_computed() && !is_known(one);
        doubts[1].layout = !b.is_computed() && !is_known(other);
    }
    doubts
}
