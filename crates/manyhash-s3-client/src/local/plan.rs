//! What is computed of a file, and which of it side by side.
//!
//! Parts are independent messages, so those of one file fill lanes and cores, if they are read at as many places at
//! once. A file is therefore divided into *segments*: whoever has a segment hashes the parts that begin in it, of all
//! cuts, and reads on to the end of the last of them. Where all cuts have a common edge, a segment ends there and no byte
//! is read twice; where they have none for long, it ends somewhere, and an eighth of it or less is read twice.

use super::wanted::PartChecksums;
use super::{Cut, Digested, Error, Wanted};
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ChecksumType, full_object};
use manyhash_s3::limits::MAX_PARTS;
use std::fs::Metadata;
use std::ops::Range;

/// Bytes in the smallest segment: a unit of work has its costs.
const MIN_SEGMENT: u64 = 1 << 20;

/// How much longer than the longest part a segment without common edges is.
const SEGMENT_PARTS: u64 = 8;

/// Bytes in a piece of a file of which nothing but the CRC is asked for, and the number of pieces from which on they
/// are longer.
const PIECE: u64 = 16 << 20;
const MAX_PIECES: u64 = 4096;

/// A cut, and an algorithm for its parts.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) cut: Cut,
    pub(super) algorithm: ChecksumAlgorithm,
}

/// What is computed of a file.
#[derive(Debug)]
pub(super) struct Plan {
    size: Option<u64>,
    series: Vec<Series>,
    /// CRCs of the full object that follow from those of a series.
    from_parts: Vec<usize>,
}

impl Plan {
    /// For a file of so many bytes, or as many as there will be.
    ///
    /// # Errors
    /// If it cannot be cut as it is asked for.
    pub(super) fn new(wanted: &Wanted, size: Option<u64>) -> Result<Plan, Error> {
        let mut plan = Plan { size, series: Vec::new(), from_parts: Vec::new() };
        let all = wanted.cuts().iter().flat_map(|(cut, algorithms)| algorithms.iter().map(move |one| (cut, *one)));
        let (crcs, others): (Vec<_>, Vec<_>) =
            all.partition(|(cut, algorithm)| **cut == Cut::Whole && algorithm.allows(ChecksumType::FullObject));
        plan.series.extend(others.into_iter().map(|(cut, algorithm)| Series { cut: cut.clone(), algorithm }));
        if let Some(size) = size {
            plan.check(size)?;
        }
        let pieces = plan.pieces();
        for (_, algorithm) in crcs {
            let cut = pieces.clone().unwrap_or(Cut::Whole);
            let same = |series: &Series| series.algorithm == algorithm && series.cut == cut;
            let i = plan.series.iter().position(same).unwrap_or(plan.series.len());
            if pieces.is_some() {
                plan.from_parts.push(i);
            }
            if i == plan.series.len() {
                plan.series.push(Series { cut, algorithm });
            }
        }
        Ok(plan)
    }

    /// Whether so many bytes can be cut.
    pub(super) fn check(&self, size: u64) -> Result<(), Error> {
        let mut sizes = self.series.iter().filter_map(|series| series.cut.size());
        match sizes.find(|parts_size| *parts_size != size) {
            Some(parts_size) => Err(Error::Size { size, parts_size }),
            None => self.check_parts(size),
        }
    }

    /// Whether so many bytes, of which there may be more, are not in too many parts.
    pub(super) fn check_parts(&self, size: u64) -> Result<(), Error> {
        for Series { cut, .. } in &self.series {
            if let Cut::Every(part_bytes) = cut
                && cut.parts(size) > MAX_PARTS.into()
            {
                return Err(Error::TooManyParts { part_bytes: part_bytes.get() });
            }
        }
        Ok(())
    }

    /// The cut for CRCs of the full object. `None` if they are better computed in one go: where something else is, so
    /// that there is but one segment.
    fn pieces(&self) -> Option<Cut> {
        let size = self.size?;
        match self.series.first() {
            _ if self.series.iter().any(|series| series.cut == Cut::Whole) => None,
            Some(series) => Some(series.cut.clone()),
            None if size <= PIECE => None,
            None => Cut::every(PIECE.max(size.div_ceil(MAX_PIECES))),
        }
    }

    pub(super) fn series(&self) -> &[Series] {
        &self.series
    }

    /// The bytes of a file; no end to them if it is not known.
    pub(super) fn size(&self) -> u64 {
        self.size.unwrap_or(u64::MAX)
    }

    /// Messages of one algorithm at any byte of the file.
    pub(super) fn lanes(&self) -> usize {
        let of = |algorithm| self.series.iter().filter(|series| series.algorithm == algorithm).count();
        ChecksumAlgorithm::ALL.into_iter().map(of).max().unwrap_or(0).max(1)
    }

    /// Where the parts of each segment begin. The last one's bound is no part's beginning.
    pub(super) fn segments(&self) -> Vec<Range<u64>> {
        let size = self.size();
        let longest = self.series.iter().map(|series| series.cut.longest(size)).max().unwrap_or(size);
        let most = longest.saturating_mul(SEGMENT_PARTS).max(MIN_SEGMENT);
        let mut segments = Vec::new();
        let mut start = 0;
        for edge in self.common_edges() {
            while edge - start > most {
                segments.push(start..start + most);
                start += most;
            }
            if edge - start >= MIN_SEGMENT && edge < size {
                segments.push(start..edge);
                start = edge;
            }
        }
        segments.push(start..u64::MAX);
        segments
    }

    /// Offsets at which parts of every cut end, in their order, up to the end of the file.
    fn common_edges(&self) -> impl Iterator<Item = u64> {
        let size = self.size();
        let fewest = self.series.iter().min_by_key(|series| series.cut.parts(size));
        let edges = fewest
            .into_iter()
            .flat_map(move |series| (0..series.cut.parts(size)).map(move |part| series.cut.part(part, size).end));
        edges.filter(move |edge| *edge == size || self.series.iter().all(|series| series.cut.has_edge(*edge)))
    }

    /// The answer, from the checksums of the parts of each series.
    pub(super) fn digested(&self, size: u64, metadata: Option<Metadata>, checksums: Vec<Vec<Checksum>>) -> Digested {
        let series = self.series.iter().cloned().zip(checksums);
        let mut parts: Vec<_> =
            series.map(|(Series { cut, algorithm }, checksums)| PartChecksums { cut, algorithm, checksums }).collect();
        for i in &self.from_parts {
            let Some(PartChecksums { cut, algorithm, checksums }) = parts.get(*i) else { continue };
            let pairs = checksums.iter().copied().zip(cut.part_sizes(size));
            if let Ok(whole) = full_object(*algorithm, pairs) {
                let (algorithm, checksums) = (*algorithm, vec![whole.checksum]);
                parts.push(PartChecksums { cut: Cut::Whole, algorithm, checksums });
            }
        }
        Digested { size, metadata, parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChecksumAlgorithm::{Crc32, Md5, Sha256};

    const MIB: u64 = 1 << 20;

    fn plan(size: u64, wanted: &[(Option<u64>, ChecksumAlgorithm)]) -> Plan {
        let mut all = Wanted::new();
        for (part_bytes, algorithm) in wanted {
            all.checksum(part_bytes.map_or(Cut::Whole, |bytes| Cut::every(bytes).unwrap()), *algorithm);
        }
        Plan::new(&all, Some(size)).unwrap()
    }

    fn starts(plan: &Plan) -> Vec<u64> {
        let segments = plan.segments();
        assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(segments.last().unwrap().end, u64::MAX);
        segments.into_iter().map(|segment| segment.start).collect()
    }

    #[test]
    fn a_part_is_a_segment() {
        assert_eq!(starts(&plan(20 * MIB, &[(Some(8 * MIB), Md5)])), [0, 8 * MIB, 16 * MIB]);
        assert_eq!(starts(&plan(16 * MIB, &[(Some(8 * MIB), Md5), (Some(8 * MIB), Sha256)])), [0, 8 * MIB]);
        // Several, if they are small.
        assert_eq!(starts(&plan(3 * MIB, &[(Some(300_000), Md5)])), [0, 1_200_000, 2_400_000]);
        assert_eq!(starts(&plan(0, &[(Some(8 * MIB), Md5)])), [0]);
    }

    #[test]
    fn segments_end_where_all_cuts_do() {
        let two = [(Some(5 * MIB), Md5), (Some(8 * MIB), Md5)];
        assert_eq!(starts(&plan(100 * MIB, &two)), [0, 40 * MIB, 80 * MIB]);
        // Or after eight parts, if they never do.
        let two = [(Some(5 * MIB), Md5), (Some(5 * MIB + 1), Md5)];
        assert_eq!(starts(&plan(100 * MIB, &two)), [0, 40 * MIB + 8, 80 * MIB + 16]);
    }

    #[test]
    fn a_whole_file_is_one_segment() {
        assert_eq!(starts(&plan(100 * MIB, &[(Some(5 * MIB), Md5), (None, Sha256), (None, Crc32)])), [0]);
        // Unless CRCs of it are combined.
        assert_eq!(starts(&plan(40 * MIB, &[(None, Crc32)])), [0, 16 * MIB, 32 * MIB]);
        assert_eq!(starts(&plan(40 * MIB, &[(None, Crc32), (Some(20 * MIB), Md5)])), [0, 20 * MIB]);
    }

    #[test]
    fn what_cannot_be_cut() {
        let mut wanted = Wanted::new();
        wanted.etag(Cut::every(5).unwrap());
        assert!(Plan::new(&wanted, Some(50_000)).is_ok());
        assert!(matches!(Plan::new(&wanted, Some(50_001)), Err(Error::TooManyParts { part_bytes: 5 })));
        wanted.etag(Cut::of_sizes([3, 4]).unwrap());
        assert!(matches!(Plan::new(&wanted, Some(8)), Err(Error::Size { size: 8, parts_size: 7 })));
    }
}
