//! Changes, applied to the tables of a transaction.
//!
//! Each reads all that it needs before it changes anything, so that one that is refused has changed nothing.

use super::bodies::Source;
use super::ledger::Ledger;
use crate::index::{
    BucketRecord, ObjectRecord, PartRecord, StateRecord, Tables, UploadRecord, decode, encode, into_io, object,
    object_key, part,
};
use crate::{Change, CommitError, Committed, Condition, Extent, ReadError};
use redb::{ReadableTable, StorageError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Why a change was not applied.
#[derive(Debug)]
pub(super) enum Failure {
    /// For a reason of its own.
    Refused(CommitError),
    /// The index has failed, and with it the whole batch.
    Index(io::Error),
}

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Self {
        Failure::Refused(error)
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Failure::Index(into_io(error))
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Disk(error) => Failure::Index(error),
            error => Failure::Refused(io::Error::new(io::ErrorKind::InvalidData, error).into()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Index(error)
    }
}

/// What a transaction changes.
pub(super) struct Apply<'a, 't, 's> {
    pub(super) tables: &'a mut Tables<'t>,
    pub(super) ledger: &'a mut Ledger<'s>,
    pub(super) state: &'a mut StateRecord,
    /// Whether anything has changed.
    pub(super) is_changed: bool,
}

/// What an object is made of, besides its extents.
struct Put {
    bucket: String,
    key: String,
    modified: i64,
    etag: String,
    attributes: Vec<u8>,
    condition: Condition,
}

/// An object that has the key.
struct Old {
    etag: String,
    extents: Vec<Extent>,
}

/// An upload, and its parts by number, with their ids and extents.
struct OldUpload {
    serial: u64,
    parts: BTreeMap<u16, (u64, Extent)>,
}

impl Apply<'_, '_, '_> {
    /// Applies a change. `source` is its body, if it has one.
    pub(super) fn change(&mut self, change: Change, source: Option<&Source>) -> Result<Committed, Failure> {
        match change {
            Change::CreateBucket { name, created, attributes } => self.create_bucket(&name, created, &attributes),
            Change::DeleteBucket { name } => self.delete_bucket(&name),
            Change::Put { bucket, key, modified, etag, attributes, condition, .. } => {
                let put = Put { bucket, key, modified, etag, attributes, condition };
                self.put(&put, source.ok_or(CommitError::SourceGone)?)
            }
            Change::Copy { bucket, key, source, modified, etag, attributes, condition } => {
                self.copy(&Put { bucket, key, modified, etag, attributes, condition }, &source.extents)
            }
            Change::Delete { bucket, key, condition } => self.delete(&bucket, &key, &condition),
            Change::CreateUpload { bucket, key, id, started, attributes } => {
                self.create_upload((&bucket, &key, &id), started, &attributes)
            }
            Change::AbortUpload { bucket, key, id } => self.abort_upload((&bucket, &key, &id)),
            Change::PutPart { bucket, key, upload, number, modified, etag, attributes, .. } => {
                let source = source.ok_or(CommitError::SourceGone)?;
                let record =
                    PartRecord { id: 0, modified, etag: &etag, attributes: &attributes, extent: source.extent };
                self.put_part((&bucket, &key, &upload), number, record, source)
            }
            Change::Complete { bucket, key, upload, parts, modified, etag, attributes, condition } => {
                self.complete(&Put { bucket, key, modified, etag, attributes, condition }, &upload, &parts)
            }
        }
    }

    fn create_bucket(&mut self, name: &str, created: i64, attributes: &[u8]) -> Result<Committed, Failure> {
        if name.is_empty() || name.len() > 255 || name.contains('\0') {
            return Err(CommitError::InvalidName.into());
        }
        if self.tables.buckets.get(name)?.is_some() {
            return Err(CommitError::BucketExists.into());
        }
        let record = encode(&BucketRecord { created, attributes })?;
        self.is_changed = true;
        self.tables.buckets.insert(name, &*record)?;
        Ok(Committed::default())
    }

    fn delete_bucket(&mut self, name: &str) -> Result<Committed, Failure> {
        self.check_bucket(name)?;
        let first = self.tables.objects.range::<&[u8]>(&*object_key(name, "")..)?.next().transpose()?;
        if first.is_some_and(|(key, _)| {
            key.value().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(&[0]))
        }) {
            return Err(CommitError::BucketNotEmpty.into());
        }
        let mut uploads = Vec::new();
        for row in self.tables.uploads.range((name, "", "")..)? {
            let (key, record) = row?;
            let (bucket, key, id) = key.value();
            if bucket != name {
                break;
            }
            uploads.push((key.to_owned(), id.to_owned(), upload_serial(record.value())?));
        }
        let mut all_parts = Vec::with_capacity(uploads.len());
        for (_, _, serial) in &uploads {
            let parts = self.parts(*serial)?;
            self.load(parts.values().map(|(_, extent)| extent))?;
            all_parts.push(parts);
        }
        self.is_changed = true;
        for ((key, id, serial), parts) in uploads.into_iter().zip(all_parts) {
            self.release(parts.values().map(|(_, extent)| extent));
            self.drop_upload((name, &key, &id), serial, parts.keys())?;
        }
        self.tables.buckets.remove(name)?;
        Ok(Committed::default())
    }

    fn put(&mut self, put: &Put, source: &Source) -> Result<Committed, Failure> {
        let old = self.check(put)?;
        self.check_source(source)?;
        self.load_old(old.as_ref())?;
        self.is_changed = true;
        self.ledger.take(&source.extent.key());
        let existed = self.insert_object(put, old, &[source.extent])?;
        Ok(Committed { existed, deduplicated: source.deduplicated, part: None })
    }

    fn copy(&mut self, put: &Put, extents: &[Extent]) -> Result<Committed, Failure> {
        let old = self.check(put)?;
        for extent in extents {
            let key = extent.key();
            if !self.ledger.load(self.tables, &key)? || self.ledger.is_trash(&key) {
                return Err(CommitError::SourceGone.into());
            }
        }
        self.load_old(old.as_ref())?;
        self.is_changed = true;
        for extent in extents {
            self.ledger.take(&extent.key());
        }
        let existed = self.insert_object(put, old, extents)?;
        Ok(Committed { existed, deduplicated: true, part: None })
    }

    fn delete(&mut self, bucket: &str, key: &str, condition: &Condition) -> Result<Committed, Failure> {
        self.check_bucket(bucket)?;
        let old = self.old(bucket, key)?;
        check_condition(condition, old.as_ref())?;
        self.load_old(old.as_ref())?;
        let existed = old.is_some();
        if let Some(old) = old {
            self.is_changed = true;
            self.release(&old.extents);
            self.tables.objects.remove(&*object_key(bucket, key))?;
        }
        Ok(Committed { existed, ..Committed::default() })
    }

    fn create_upload(
        &mut self,
        name: (&str, &str, &str),
        started: i64,
        attributes: &[u8],
    ) -> Result<Committed, Failure> {
        self.check_bucket(name.0)?;
        if self.tables.uploads.get(name)?.is_some() {
            return Err(CommitError::UploadExists.into());
        }
        let record = encode(&UploadRecord { serial: self.next_number(), started, attributes })?;
        self.is_changed = true;
        self.tables.uploads.insert(name, &*record)?;
        Ok(Committed::default())
    }

    fn abort_upload(&mut self, name: (&str, &str, &str)) -> Result<Committed, Failure> {
        let OldUpload { serial, parts } = self.upload(name)?;
        self.load(parts.values().map(|(_, extent)| extent))?;
        self.is_changed = true;
        self.release(parts.values().map(|(_, extent)| extent));
        self.drop_upload(name, serial, parts.keys())?;
        Ok(Committed { existed: true, ..Committed::default() })
    }

    fn put_part(
        &mut self,
        name: (&str, &str, &str),
        number: u16,
        record: PartRecord<'_>,
        source: &Source,
    ) -> Result<Committed, Failure> {
        let serial = self.upload_serial(name)?;
        self.check_source(source)?;
        let old = match self.tables.parts.get((serial, number))? {
            Some(row) => Some(part(number, row.value())?.extent),
            None => None,
        };
        self.load(&old)?;
        let id = self.next_number();
        let record = encode(&PartRecord { id, ..record })?;
        self.is_changed = true;
        self.ledger.take(&source.extent.key());
        self.release(&old);
        self.tables.parts.insert((serial, number), &*record)?;
        Ok(Committed { existed: old.is_some(), deduplicated: source.deduplicated, part: Some(id) })
    }

    fn complete(&mut self, put: &Put, id: &str, chosen: &[(u16, u64)]) -> Result<Committed, Failure> {
        let name = (&*put.bucket, &*put.key, id);
        let OldUpload { serial, parts } = self.upload(name)?;
        let (mut extents, mut numbers) = (Vec::with_capacity(chosen.len()), BTreeSet::new());
        for (number, id) in chosen {
            match parts.get(number) {
                Some((found, extent)) if found == id && numbers.insert(*number) => extents.push(*extent),
                _ => return Err(CommitError::PartGone(*number).into()),
            }
        }
        let old = self.check(put)?;
        let others = || parts.iter().filter(|(number, _)| !numbers.contains(number)).map(|(_, (_, extent))| extent);
        self.load(others())?;
        self.load_old(old.as_ref())?;
        self.is_changed = true;
        self.release(others());
        self.drop_upload(name, serial, parts.keys())?;
        let existed = self.insert_object(put, old, &extents)?;
        Ok(Committed { existed, ..Committed::default() })
    }

    fn check_bucket(&self, name: &str) -> Result<(), Failure> {
        match self.tables.buckets.get(name)? {
            Some(_) => Ok(()),
            None => Err(CommitError::NoSuchBucket.into()),
        }
    }

    /// Whether an object may be put: the one that is there.
    fn check(&self, put: &Put) -> Result<Option<Old>, Failure> {
        self.check_bucket(&put.bucket)?;
        let old = self.old(&put.bucket, &put.key)?;
        check_condition(&put.condition, old.as_ref())?;
        Ok(old)
    }

    fn old(&self, bucket: &str, key: &str) -> Result<Option<Old>, Failure> {
        let Some(row) = self.tables.objects.get(&*object_key(bucket, key))? else {
            return Ok(None);
        };
        let old = object(row.value())?;
        Ok(Some(Old { etag: old.etag, extents: old.extents }))
    }

    /// Whether a body is there: one that is pinned may be in the trash.
    fn check_source(&mut self, source: &Source) -> Result<(), Failure> {
        let key = source.extent.key();
        let is_there = self.ledger.load(self.tables, &key)?;
        if is_there && (source.pin.is_some() || !self.ledger.is_trash(&key)) {
            return Ok(());
        }
        Err(CommitError::SourceGone.into())
    }

    fn load_old(&mut self, old: Option<&Old>) -> Result<(), Failure> {
        self.load(old.map_or(&[][..], |old| &old.extents))
    }

    /// Reads blobs that will be released.
    fn load<'e>(&mut self, extents: impl IntoIterator<Item = &'e Extent>) -> Result<(), Failure> {
        for extent in extents {
            self.ledger.load(self.tables, &extent.key())?;
        }
        Ok(())
    }

    fn release<'e>(&mut self, extents: impl IntoIterator<Item = &'e Extent>) {
        for extent in extents {
            self.ledger.release(&extent.key());
        }
    }

    /// Writes an object whose extents are taken, in place of the one that is there. Says whether there was one.
    fn insert_object(&mut self, put: &Put, old: Option<Old>, extents: &[Extent]) -> Result<bool, Failure> {
        let Put { modified, etag, attributes, .. } = put;
        let record = encode(&ObjectRecord { modified: *modified, etag, attributes, extents })?;
        if let Some(old) = &old {
            self.release(&old.extents);
        }
        self.tables.objects.insert(&*object_key(&put.bucket, &put.key), &*record)?;
        Ok(old.is_some())
    }

    fn upload_serial(&self, name: (&str, &str, &str)) -> Result<u64, Failure> {
        self.check_bucket(name.0)?;
        let row = self.tables.uploads.get(name)?.ok_or(CommitError::NoSuchUpload)?;
        upload_serial(row.value())
    }

    fn upload(&self, name: (&str, &str, &str)) -> Result<OldUpload, Failure> {
        let serial = self.upload_serial(name)?;
        Ok(OldUpload { serial, parts: self.parts(serial)? })
    }

    fn parts(&self, serial: u64) -> Result<BTreeMap<u16, (u64, Extent)>, Failure> {
        let mut parts = BTreeMap::new();
        for row in self.tables.parts.range((serial, 0)..=(serial, u16::MAX))? {
            let (key, record) = row?;
            let part = part(key.value().1, record.value())?;
            parts.insert(part.number, (part.id, part.extent));
        }
        Ok(parts)
    }

    /// Removes an upload whose parts are released.
    fn drop_upload<'n>(
        &mut self,
        name: (&str, &str, &str),
        serial: u64,
        numbers: impl Iterator<Item = &'n u16>,
    ) -> Result<(), Failure> {
        for number in numbers {
            self.tables.parts.remove((serial, *number))?;
        }
        self.tables.uploads.remove(name)?;
        Ok(())
    }

    fn next_number(&mut self) -> u64 {
        let number = self.state.next;
        self.state.next = number.saturating_add(1);
        number
    }
}

fn upload_serial(record: &[u8]) -> Result<u64, Failure> {
    let record: UploadRecord<'_> = decode(record, "an upload in the index")?;
    Ok(record.serial)
}

/// Whether what is there is as is demanded.
fn check_condition(condition: &Condition, old: Option<&Old>) -> Result<(), CommitError> {
    if condition.absent && old.is_some() {
        return Err(CommitError::PreconditionFailed);
    }
    match (&condition.etag, old) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(CommitError::NoSuchKey),
        (Some(etags), Some(old)) if etags.iter().any(|etag| etag == "*" || *etag == old.etag) => Ok(()),
        (Some(_), Some(_)) => Err(CommitError::PreconditionFailed),
    }
}
