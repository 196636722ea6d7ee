//! What to ask next.
//!
//! A pair of sides goes from one question to the next, the cheapest that can decide first:
//! 1. What the lists say: sizes, tags, digests. A local file is read for the strongest value that the other side has.
//! 2. HeadObject or GetObjectAttributes, where the lists have nothing that both sides have or can have, or where a tag
//!    differs that may not be an MD5.
//! 3. The size of the first part. If what follows from it differs, that of the last, and if that does not fit, of all.
//! 4. The local file once more, for candidates of the size of parts.
//! 5. The object's bytes, if that is allowed.
//!
//! It is a function of what is known, without I/O, and each question is asked once, so that it comes to an end.

use super::claim::{Claim, Comparison, Form, Layout, Origin, compare};
use super::evidence::Evidence;
use super::function::{Function, Strength};
use super::outcome::{Check, Difference, Unverified};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType};
use manyhash_s3::etag::ETagKind;

/// What to do.
#[derive(Debug)]
pub(super) enum Next {
    Same(Check),
    Differs(Difference),
    Unverified(Unverified),
    /// All of these, in any order.
    Ask(Vec<Question>),
}

/// A question to one of the sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Question {
    pub(super) side: usize,
    pub(super) what: What,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    Head,
    FirstPart,
    LastPart,
    /// Of all parts.
    Sizes,
    Attributes,
    /// A value of the local file.
    Compute(Value),
    /// The size of the parts that give the other side's tag, of the local file.
    Guess,
    /// A value of the object's bytes.
    Download(Value),
}

/// A value to be computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Of the bytes.
    Whole(Function),
    /// Of the values of the parts, one after another.
    Parts(ChecksumAlgorithm, Layout),
}

impl Value {
    /// What it is of, for an object of so many bytes. `None` if these are no parts of it.
    pub(crate) fn form(&self, size: u64) -> Option<Form> {
        match self {
            Value::Whole(function) => Some(Form::Whole(*function)),
            Value::Parts(algorithm, layout) => {
                let parts = u32::try_from(layout.parts(size)?).ok()?;
                Some(Form::Parts { algorithm: *algorithm, parts })
            }
        }
    }
}

/// What was learned of a side from other objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Hint {
    /// Tags were not made of MD5s, so that it is best to ask before a file is read in vain.
    pub(super) opaque_tags: bool,
    /// The service does not know parts' numbers.
    pub(super) no_part_numbers: bool,
    /// The service does not know GetObjectAttributes.
    pub(super) no_attributes: bool,
    /// The lists tell the algorithms of checksums, so that an object without any has none.
    pub(super) lists_algorithms: bool,
}

/// Decides what is next.
pub(super) fn next(sides: [&Evidence; 2], hints: [Hint; 2], download: bool) -> Next {
    let [a, b] = sides;
    if let (Some(x), Some(y)) = (a.size, b.size) {
        if x != y {
            return Next::Differs(Difference::Size([x, y]));
        }
        if x == 0 {
            return Next::Same(Check::Empty);
        }
    }
    let view = View { sides, hints };
    let comparison = compare(&a.as_claims(), &b.as_claims());
    let questions = match &comparison {
        Comparison::Equal(form, origins) => {
            return Next::Same(Check::Value { form: *form, part_bytes: view.part_bytes(*form), origins: *origins });
        }
        Comparison::Unequal(form, origins) => {
            return Next::Differs(Difference::Value { form: *form, origins: *origins });
        }
        Comparison::Contradiction => Vec::new(),
        Comparison::Doubtful(_, doubts) => {
            let resolving = (0..2).filter_map(|side| view.resolve(side, doubts[side].tag, doubts[side].layout));
            let resolving: Vec<_> = resolving.collect();
            if resolving.is_empty() { view.search() } else { resolving }
        }
        Comparison::Nothing => view.search(),
    };
    if !questions.is_empty() {
        return Next::Ask(questions);
    }
    let last = if download { view.download() } else { Vec::new() };
    if last.is_empty() { Next::Unverified(view.why(&comparison, download)) } else { Next::Ask(last) }
}

#[derive(Clone, Copy)]
struct View<'a> {
    sides: [&'a Evidence; 2],
    hints: [Hint; 2],
}

impl View<'_> {
    /// What tells whether a difference of values is one of bytes.
    fn resolve(&self, side: usize, tag: bool, layout: bool) -> Option<Question> {
        let evidence = self.sides[side];
        if !evidence.is_object() {
            return None;
        }
        let asked = evidence.asked;
        let what = if tag && !asked.head {
            // Where parts are in doubt too, theirs tells both.
            if layout && self.can_ask_first_part(side) { What::FirstPart } else { What::Head }
        } else if layout {
            match &evidence.layout {
                Some(Layout::Equal { is_sure: false, .. }) if !asked.last_part => What::LastPart,
                None if self.can_ask_first_part(side) => What::FirstPart,
                None if evidence.is_uneven && !asked.sizes => What::Sizes,
                _ => return None,
            }
        } else {
            return None;
        };
        Some(Question { side, what })
    }

    fn can_ask_first_part(&self, side: usize) -> bool {
        let evidence = self.sides[side];
        let is_open = evidence.is_object() && !evidence.asked.first_part && evidence.layout.is_none();
        is_open && !evidence.is_uneven && !self.hints[side].no_part_numbers
    }

    fn can_ask_attributes(&self, side: usize) -> bool {
        let evidence = self.sides[side];
        evidence.is_object() && !evidence.asked.attributes && !self.hints[side].no_attributes
    }

    /// Whether HeadObject could tell a checksum.
    fn may_have_checksums(&self, side: usize) -> bool {
        let evidence = self.sides[side];
        evidence.is_object() && !(evidence.algorithms.is_empty() && self.hints[side].lists_algorithms)
    }

    /// What can give both sides a value of the same.
    fn search(&self) -> Vec<Question> {
        match (self.sides[0].is_file(), self.sides[1].is_file()) {
            (true, true) => self.files(),
            (true, false) => self.file(0),
            (false, true) => self.file(1),
            (false, false) => self.no_file(),
        }
    }

    fn files(&self) -> Vec<Question> {
        let sha256 = Value::Whole(Function::SHA256);
        let missing = (0..2).filter(|side| !self.sides[*side].has_computed(Form::Whole(Function::SHA256)));
        missing.map(|side| Question { side, what: What::Compute(sha256.clone()) }).collect()
    }

    /// One side is a file, from which every value can be had.
    fn file(&self, file: usize) -> Vec<Question> {
        let other = 1 - file;
        let what = |side, what| vec![Question { side, what }];
        let evidence = self.sides[other];
        let asked = evidence.asked;
        let is_object = evidence.is_object();
        if is_object && !asked.head && !asked.first_part && evidence.is_tag_unsure() && self.hints[other].opaque_tags {
            return what(other, What::Head);
        }
        let is_in_parts = matches!(evidence.parts(), Some(2..)) && evidence.layout.is_none();
        if is_object && is_in_parts && self.has_strong_composite(other) && self.can_ask_attributes(other) {
            return what(other, What::Attributes);
        }
        if let Some(value) = self.best_value(other, file) {
            return what(file, What::Compute(value));
        }
        let is_tag_of_parts = matches!(evidence.tag_kind(), ETagKind::Multipart { .. });
        let has_composite = evidence.claims.iter().any(|claim| matches!(claim.form, Form::Parts { parts: 2.., .. }));
        if is_object {
            if is_in_parts && (is_tag_of_parts || has_composite) && self.can_ask_first_part(other) {
                return what(other, What::FirstPart);
            }
            if evidence.is_uneven && !asked.sizes {
                return what(other, What::Sizes);
            }
            if !asked.head && self.may_have_checksums(other) {
                return what(other, What::Head);
            }
            if has_composite && evidence.layout.is_none() && !is_tag_of_parts && self.can_ask_attributes(other) {
                return what(other, What::Attributes);
            }
        }
        if is_tag_of_parts && evidence.layout.is_none() && !self.sides[file].asked.guess {
            return what(file, What::Guess);
        }
        Vec::new()
    }

    /// Whether a side's list says that it has a composite that is stronger than MD5s.
    fn has_strong_composite(&self, side: usize) -> bool {
        let evidence = self.sides[side];
        let is_strong = |algorithm: &ChecksumAlgorithm| Function::from(*algorithm).strength() > Strength::Collidable;
        evidence.checksum_type == Some(ChecksumType::Composite) && evidence.algorithms.iter().any(is_strong)
    }

    /// The strongest value that one side has and the bytes of the other one were not yet asked for.
    fn best_value(&self, other: usize, file: usize) -> Option<Value> {
        let evidence = self.sides[other];
        let values = evidence.claims.iter().filter_map(|claim| match claim.form {
            Form::Whole(function) => Some(Value::Whole(function)),
            Form::Parts { algorithm, parts: 1 } => Some(Value::Whole(algorithm.into())),
            Form::Parts { algorithm, parts } => {
                let layout = evidence.layout.as_ref()?;
                let is_of_these = layout.parts(evidence.size?) == Some(parts.into());
                is_of_these.then(|| Value::Parts(algorithm, layout.clone()))
            }
        });
        let size = evidence.size.or(self.sides[file].size).unwrap_or(0);
        let is_new = |value: &Value| value.form(size).is_some_and(|form| !self.sides[file].has_computed(form));
        values.filter(is_new).max_by_key(|value| match value {
            Value::Whole(function) => function.rank(),
            Value::Parts(algorithm, _) => Function::from(*algorithm).rank(),
        })
    }

    /// Neither side is a file: what they have is all there is.
    fn no_file(&self) -> Vec<Question> {
        let mut questions = Vec::new();
        for side in 0..2 {
            let (evidence, other) = (self.sides[side], self.sides[1 - side]);
            if !evidence.is_object() {
                continue;
            }
            let of_other: Vec<Function> = other.claims.iter().map(|claim| claim.form.function()).collect();
            let could_compare = |algorithm: &ChecksumAlgorithm| {
                other.algorithms.contains(algorithm) || of_other.contains(&Function::from(*algorithm))
            };
            // Where lists do not say what there is, it has to be asked.
            let is_known = self.hints[side].lists_algorithms;
            let is_other_known = !other.is_object() || self.hints[1 - side].lists_algorithms;
            let is_any = match (is_known, is_other_known) {
                (true, true) => evidence.algorithms.iter().any(could_compare),
                (true, false) => !evidence.algorithms.is_empty(),
                (false, true) => ChecksumAlgorithm::ALL.iter().any(could_compare),
                (false, false) => true,
            };
            if !evidence.asked.head && is_any {
                questions.push(Question { side, what: What::Head });
            } else if self.could_combine(side) && self.can_ask_attributes(side) {
                questions.push(Question { side, what: What::Attributes });
            }
        }
        questions
    }

    /// Whether a side has a composite of CRCs, and the other one the CRC of the bytes.
    fn could_combine(&self, side: usize) -> bool {
        let (evidence, other) = (self.sides[side], self.sides[1 - side]);
        evidence.claims.iter().any(|claim| match claim.form {
            Form::Parts { algorithm, parts: 2.. } => {
                algorithm.allows(ChecksumType::FullObject) && other.has(Form::Whole(algorithm.into()))
            }
            _ => false,
        })
    }

    /// What the bytes of an object can decide.
    fn download(&self) -> Vec<Question> {
        let sha256 = || Value::Whole(Function::SHA256);
        let is_done = |side: usize| self.sides[side].has_computed(Form::Whole(Function::SHA256));
        let objects: Vec<usize> = (0..2).filter(|side| self.sides[*side].is_object()).collect();
        match objects[..] {
            [side] if self.sides[1 - side].is_file() => {
                let whats = [(side, What::Download(sha256())), (1 - side, What::Compute(sha256()))];
                let questions = whats.into_iter().filter(|(side, _)| !is_done(*side));
                questions.map(|(side, what)| Question { side, what }).collect()
            }
            [side] => {
                let value = self.best_value(1 - side, side).filter(is_computable);
                value.map(|value| Question { side, what: What::Download(value) }).into_iter().collect()
            }
            [_, _] => {
                // One of the two may do: what is sure of the other one is as good as its bytes.
                let sure = |side: usize| self.best_sure_value(side).map(|value| (1 - side, value));
                let is_new = |(side, value): &(usize, Value)| {
                    let form = value.form(self.sides[*side].size.unwrap_or(0));
                    form.is_some_and(|form| !self.sides[*side].has_computed(form))
                };
                let is_first = !self.sides.iter().any(|side| side.claims.iter().any(Claim::is_computed));
                match sure(0).or_else(|| sure(1)).filter(is_new).filter(|_| is_first) {
                    Some((side, value)) => vec![Question { side, what: What::Download(value) }],
                    None => {
                        let missing = objects.into_iter().filter(|side| !is_done(*side));
                        missing.map(|side| Question { side, what: What::Download(sha256()) }).collect()
                    }
                }
            }
            _ => Vec::new(),
        }
    }

    /// The strongest value of a side that needs no belief in a tag.
    fn best_sure_value(&self, side: usize) -> Option<Value> {
        let of_checksum = |claim: &&Claim| claim.origin == Origin::Checksum;
        let wholes = self.sides[side].claims.iter().filter(of_checksum).filter_map(|claim| match claim.form {
            Form::Whole(function) if function.strength() >= Strength::Collidable => Some(function),
            _ => None,
        });
        wholes.max_by_key(|function| function.rank()).map(Value::Whole)
    }

    /// Bytes of a part, for a value of parts.
    fn part_bytes(&self, form: Form) -> Option<u64> {
        let Form::Parts { .. } = form else { return None };
        self.sides.iter().find_map(|side| match &side.layout {
            Some(Layout::Equal { part_bytes, .. }) => Some(*part_bytes),
            _ => None,
        })
    }

    /// Why nothing decides.
    fn why(&self, comparison: &Comparison, download: bool) -> Unverified {
        match comparison {
            Comparison::Contradiction => return Unverified::Contradiction,
            Comparison::Doubtful(form, _) => return Unverified::Doubtful(*form),
            _ => {}
        }
        if download && self.sides.iter().any(|side| side.is_object()) {
            return Unverified::NoFunction;
        }
        let objects = || self.sides.iter().filter(|side| side.is_object());
        if self.sides.iter().any(|side| side.asked.guess) {
            Unverified::UnknownParts
        } else if objects().any(|side| side.is_tag_opaque()) {
            Unverified::Encrypted
        } else if objects().any(|side| matches!(side.parts(), Some(2..))) {
            Unverified::InParts
        } else {
            Unverified::NothingInCommon
        }
    }
}

/// Whether a value can be had of bytes in pieces.
fn is_computable(value: &Value) -> bool {
    match value {
        Value::Whole(Function::Hash(function)) => {
            matches!(function, manyhash::HashFunction::Lanes(_))
                || Function::from(*function).checksum_algorithm().is_some()
        }
        Value::Whole(Function::XxHash64) | Value::Parts(..) => true,
    }
}
