//! Levels of hash trees, against pairs hashed one by one.

use crate::common::{bytes, reference};
use manyhash::Algorithm;
use manyhash::merkle::{Node, parents, parents_in_place};

fn nodes(count: usize) -> Vec<Node> {
    bytes(32 * count).as_chunks::<32>().0.to_vec()
}

fn due(nodes: &[Node]) -> Vec<Node> {
    let digest = |pair: &[Node]| reference(Algorithm::Sha256, pair.as_flattened());
    nodes.chunks(2).map(|pair| digest(pair).as_bytes().try_into().expect("32 bytes")).collect()
}

#[test]
fn levels_of_any_even_number() {
    for count in [0, 2, 4, 6, 30, 62, 64, 256, 258, 5000, 70_000] {
        let mut nodes = nodes(count);
        let due = due(&nodes);
        let mut room = vec![[9; 32]; count / 2];
        parents(&nodes, &mut room).expect("half as many");
        assert!(room == due, "{count} nodes");
        let level = parents_in_place(&mut nodes).expect("an even number");
        assert!(*level == due[..], "{count} nodes in place");
    }
}

#[test]
fn what_is_no_pairs_is_refused() {
    let mut three = nodes(3);
    let before = three.clone();
    assert!(parents_in_place(&mut three).is_err());
    assert_eq!(three, before);
    assert!(parents(&three, &mut [[0; 32]; 1]).is_err());
    assert!(parents(&three, &mut [[0; 32]; 2]).is_err());
    let error = parents(&three[..2], &mut []).expect_err("there is no room");
    assert_eq!(error.to_string(), "cannot hash 2 nodes into 0 parents: a parent has two nodes");
}
