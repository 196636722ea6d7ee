//! Repairing what can be without deleting an object.

use super::{DamageKind, Findings, Miscount};
use crate::OpenError;
use crate::index::{BlobKey, BlobRecord, Tables, blob, encode, into_io};
use crate::recovery::on;
use crate::store::Shared;
use redb::ReadableTable;
use std::collections::BTreeMap;
use std::io;

/// Corrects counts, marks what is damaged, and removes files that the index does not know.
///
/// What nothing refers to goes to the trash, which is emptied when the store is opened.
pub(super) fn repair(shared: &Shared, findings: &Findings) -> Result<(), OpenError> {
    let index = shared.layout.index();
    on(&index, correct(shared, findings))?;
    shared.index.publish();
    for path in &findings.report.orphans {
        match shared.disk.unlink(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return on(path, Err(error)),
            _ => {}
        }
    }
    Ok(())
}

fn correct(shared: &Shared, findings: &Findings) -> io::Result<()> {
    let report = &findings.report;
    let transaction = shared.index.begin()?;
    let mut tables = Tables::open(&transaction).map_err(into_io)?;
    let mut marks: BTreeMap<BlobKey, bool> = findings.sound.iter().map(|key| (*key, false)).collect();
    marks.extend(
        report.damage.iter().filter(|damage| damage.kind != DamageKind::Unknown).map(|damage| (damage.key, true)),
    );
    for (key, damaged) in marks {
        change(&mut tables, &key, |record| record.damaged = damaged)?;
    }
    let mut bytes = report.bytes;
    for Miscount { key, found, .. } in &report.miscounts {
        let record = change(&mut tables, key, |record| record.references = *found)?;
        if let Some(record) = record
            && *found == 0
        {
            tables.blobs.remove(&key.0).map_err(into_io)?;
            tables.trash.insert(&key.0, &*encode(&record)?).map_err(into_io)?;
            bytes = bytes.saturating_sub(record.length);
        }
    }
    for number in &report.segments {
        if let Some(record) = findings.segments.get(number) {
            tables.segments.insert(number, &*encode(record)?).map_err(into_io)?;
        }
    }
    let mut state = tables.state().map_err(io::Error::other)?;
    state.bytes = bytes;
    tables.set_state(&state)?;
    drop(tables);
    transaction.commit().map_err(into_io)
}

/// Changes the record of a blob, and returns it.
fn change(
    tables: &mut Tables<'_>,
    key: &BlobKey,
    change: impl FnOnce(&mut BlobRecord),
) -> io::Result<Option<BlobRecord>> {
    let record = match tables.blobs.get(&key.0).map_err(into_io)? {
        Some(row) => Some(blob(row.value()).map_err(io::Error::other)?),
        None => None,
    };
    let Some(mut record) = record else {
        return Ok(None);
    };
    change(&mut record);
    tables.blobs.insert(&key.0, &*encode(&record)?).map_err(into_io)?;
    Ok(Some(record))
}
