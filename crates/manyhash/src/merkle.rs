//! Merkle trees, a level at a time: the SHA-256 of pairs of nodes.
//!
//! A parent is the digest of its two children's 64 bytes, as in Ethereum's SSZ (`hash_tree_root`). Bitcoin hashes that
//! digest once more: call `Sha256::digest_many` on the parents. Trees differ in how they treat the last node of a level
//! with an odd number of nodes, so that is left to the caller.

use crate::batch::pool::Threads;
use crate::{Algorithm, Column, Encoding, column};

/// A node: a SHA-256 digest.
pub type Node = [u8; 32];

/// Parents that are hashed before they are written over their children.
const PARENTS: usize = 1 << 14;

/// The nodes of a level are not exactly two for each parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("cannot hash {nodes} nodes into {parents} parents: a parent has two nodes")]
pub struct LevelLengthError {
    nodes: usize,
    parents: usize,
}

/// Hashes each pair of nodes into its parent, in order, on all cores.
///
/// # Errors
/// Returns an error, and writes nothing, unless there are exactly two nodes for each parent.
pub fn parents(nodes: &[Node], parents: &mut [Node]) -> Result<(), LevelLengthError> {
    if nodes.len() != parents.len().saturating_mul(2) {
        return Err(LevelLengthError { nodes: nodes.len(), parents: parents.len() });
    }
    hash(nodes, parents);
    Ok(())
}

/// Replaces the first half of a level by its parents, and returns them. The contents of the second half are
/// unspecified.
///
/// ```
/// use manyhash::{Sha256, merkle};
///
/// let mut nodes = [[1; 32], [2; 32], [3; 32], [4; 32]];
/// let mut level = &mut nodes[..];
/// while level.len() > 1 {
///     level = merkle::parents_in_place(level)?;
/// }
/// let pair = |a: &[u8], b: &[u8]| Sha256::digest([a, b].concat());
/// assert_eq!(level[0], pair(&pair(&[1; 32], &[2; 32]), &pair(&[3; 32], &[4; 32])));
/// # Ok::<(), merkle::LevelLengthError>(())
/// ```
///
/// # Errors
/// Returns an error, and changes nothing, if the number of nodes is odd.
pub fn parents_in_place(nodes: &mut [Node]) -> Result<&mut [Node], LevelLengthError> {
    let half = nodes.len() / 2;
    if !nodes.len().is_multiple_of(2) {
        return Err(LevelLengthError { nodes: nodes.len(), parents: half });
    }
    let mut room = vec![Node::default(); half.min(PARENTS)];
    for first in (0..half).step_by(PARENTS) {
        let count = PARENTS.min(half - first);
        // Parents are written where children have been read: never further than these.
        hash(&nodes[2 * first..2 * (first + count)], &mut room[..count]);
        nodes[first..first + count].copy_from_slice(&room[..count]);
    }
    Ok(&mut nodes[..half])
}

/// Of twice as many nodes as parents.
fn hash(nodes: &[Node], parents: &mut [Node]) {
    let pairs = Column::fixed(nodes.as_flattened(), 2 * size_of::<Node>()).ok();
    if let Some(pairs) = pairs {
        let parents = parents.as_flattened_mut();
        column::fill(Algorithm::Sha256, Threads::default(), &pairs, Encoding::Binary, None, parents);
    }
}
