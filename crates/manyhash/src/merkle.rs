//! Levels of Merkle trees: the SHA-256 of pairs of nodes, a level at a time.
//!
//! A parent is the digest of its two children's 64 bytes, as in Ethereum's SSZ (`hash_tree_root`). Bitcoin hashes that
//! digest once more: `Sha256::digest_many` of the parents. What becomes of the last node of a level of an odd number
//! differs from tree to tree, and is the caller's to add.

use crate::batch::pool::Threads;
use crate::{Algorithm, Column, Encoding, column};

/// A node: a SHA-256 digest.
pub type Node = [u8; 32];

/// Parents that are hashed before they are written over their children.
const PARENTS: usize = 1 << 14;

/// There is no parent of a single node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{nodes} nodes are no pairs, or {parents} parents not half as many")]
pub struct LevelLengthError {
    nodes: usize,
    parents: usize,
}

/// The parents of a level, in their order, computed on all cores.
///
/// # Errors
/// If there is not room for half as many nodes exactly; nothing is written then.
pub fn parents(nodes: &[Node], parents: &mut [Node]) -> Result<(), LevelLengthError> {
    if nodes.len() != parents.len().saturating_mul(2) {
        return Err(LevelLengthError { nodes: nodes.len(), parents: parents.len() });
    }
    hash(nodes, parents);
    Ok(())
}

/// Replaces the first half of a level by its parents, and returns them. The second half becomes arbitrary.
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
/// If the number of nodes is odd; nothing is changed then.
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
