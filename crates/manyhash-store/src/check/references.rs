//! Counting again who refers to what.

use super::{Damage, DamageKind, Holder, Miscount, Report};
use crate::ReadError;
use crate::index::{BlobKey, Snapshot, Step, object, object_name};
use std::collections::{BTreeMap, HashMap};

/// How many blobs are counted in one pass over all objects: what that takes of memory is some 200 MiB.
const PASS: u64 = 2 << 20;

/// Counts the references to all blobs.
pub(super) fn count(snapshot: &Snapshot, report: &mut Report) -> Result<(), ReadError> {
    // Digests are spread evenly.
    let passes = (report.blobs / PASS + 1).min(1 << 16);
    for pass in 0..passes {
        let is_in_pass = |key: &BlobKey| {
            let [first, second, ..] = key.0;
            u64::from(u16::from_be_bytes([first, second])) % passes == pass
        };
        let mut found: HashMap<BlobKey, u64> = HashMap::new();
        scan_extents(snapshot, |key, _| {
            if is_in_pass(&key) {
                *found.entry(key).or_default() += 1;
            }
            Ok(())
        })?;
        snapshot.scan_blobs(|key, record| {
            if is_in_pass(&key) {
                let (recorded, found) = (record.references, found.remove(&key).unwrap_or_default());
                if recorded != found {
                    report.miscounts.push(Miscount { sha256: key.sha256(), recorded, found, key });
                }
            }
            Ok(())
        })?;
        for key in found.into_keys() {
            let (sha256, kind, holders) = (key.sha256(), DamageKind::Unknown, Vec::new());
            report.damage.push(Damage { sha256, path: None, kind, holders, key });
        }
    }
    Ok(())
}

/// Finds the objects and parts that consist of damaged blobs.
pub(super) fn name_holders(snapshot: &Snapshot, damage: &mut [Damage]) -> Result<(), ReadError> {
    if damage.is_empty() {
        return Ok(());
    }
    damage.sort_unstable_by_key(|damage| damage.key);
    scan_extents(snapshot, |key, holder| {
        if let Ok(at) = damage.binary_search_by_key(&key, |damage| damage.key)
            && let Some(damage) = damage.get_mut(at)
        {
            let holder = holder();
            if damage.holders.last() != Some(&holder) {
                damage.holders.push(holder);
            }
        }
        Ok(())
    })
}

/// All extents of objects and parts, with what they belong to.
fn scan_extents(
    snapshot: &Snapshot,
    mut each: impl FnMut(BlobKey, &dyn Fn() -> Holder) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    snapshot.scan_objects(&[], |row, record| {
        let (bucket, key) = object_name(row)?;
        let holder = || Holder::Object { bucket: bucket.to_owned(), key: key.to_owned() };
        for extent in object(record)?.extents {
            each(extent.key(), &holder)?;
        }
        Ok(Step::Next)
    })?;
    let mut uploads = BTreeMap::new();
    snapshot.scan_uploads(("", "", ""), |upload| {
        uploads.insert(upload.serial, upload);
        Ok(Step::Next)
    })?;
    snapshot.scan_parts(|serial, part| {
        let holder = || {
            let (bucket, key, id) = uploads
                .get(&serial)
                .map_or_else(Default::default, |upload| (upload.bucket.clone(), upload.key.clone(), upload.id.clone()));
            Holder::Part { bucket, key, upload: id, number: part.number }
        };
        each(part.extent.key(), &holder)
    })
}
