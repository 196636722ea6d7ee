//! GetObject and HeadObject.

use super::parts;
use crate::call::{Call, read};
use crate::headers;
use crate::kept::{self, Kept};
use crate::response::{Answer, Content};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use manyhash_s3::checksum::ChecksumType;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::etag::ETagCondition;
use manyhash_s3::time;
use manyhash_store::{Condition, Object, ReadError};
use std::ops::Range;
use std::time::Duration;

/// How often an object is looked up again whose content was replaced or deleted meanwhile. That takes a commit at most.
const TRIES: u32 = 10;

pub(super) async fn object(call: &Call) -> Result<Answer, S3Error> {
    let mut tries = 0;
    loop {
        let found = find(call)?;
        let view = view(call, &found)?;
        let mut answer = describe(call, &found, &view);
        if answer.status == StatusCode::NOT_MODIFIED {
            return Ok(answer);
        }
        match call.state.store.read(&found.object.extents, view.range) {
            Ok(reader) => {
                answer.content = Content::Stored(reader);
                return Ok(answer);
            }
            Err(ReadError::Gone) if tries < TRIES => {
                tokio::time::sleep(Duration::from_millis(1 << tries)).await;
                tries += 1;
            }
            Err(error) => return Err(read(error)),
        }
    }
}

pub(super) fn head(call: &Call) -> Result<Answer, S3Error> {
    let found = find(call)?;
    let view = view(call, &found)?;
    let mut answer = describe(call, &found, &view);
    answer.content = Content::Length(view.range.end - view.range.start);
    Ok(answer)
}

/// An object and what is kept with it.
pub(super) struct Found {
    pub(super) object: Object,
    pub(super) kept: Kept,
}

/// Finds the object that a call is about.
pub(super) fn find(call: &Call) -> Result<Found, S3Error> {
    part_number(call)?;
    find_by_name(call, call.bucket(), call.key())
}

/// Refuses to do with an object what is asked for one of its versions: it has none.
pub(super) fn expect_no_version(version: Option<&str>) -> Result<(), S3Error> {
    match version {
        None | Some("" | "null") => Ok(()),
        Some(value) => Err(S3Error::invalid_argument("versionId", value, "Invalid version id specified")),
    }
}

/// Finds an object by its name.
pub(super) fn find_by_name(call: &Call, bucket: &str, key: &str) -> Result<Found, S3Error> {
    expect_no_version(call.query.get("versionId"))?;
    match call.state.store.object(bucket, key).map_err(read)? {
        Some(object) => Ok(Found { kept: kept::decode(&object.attributes)?, object }),
        None if call.state.store.bucket(bucket).map_err(read)?.is_none() => {
            Err(S3Error::bucket(ErrorCode::NoSuchBucket, bucket))
        }
        None => Err(S3Error::no_such_key(key)),
    }
}

/// Fails if a condition of a write is known not to hold.
pub(super) fn expect_writable(call: &Call, condition: &Condition) -> Result<(), S3Error> {
    if !condition.absent && condition.etag.is_none() {
        return Ok(());
    }
    let object = call.state.store.object(call.bucket(), call.key()).map_err(read)?;
    match (object, &condition.etag) {
        (Some(_), _) if condition.absent => Err(S3Error::precondition_failed("If-None-Match")),
        (None, Some(_)) => Err(S3Error::no_such_key(call.key())),
        (Some(object), Some(etags)) if !etags.iter().any(|etag| etag == "*" || *etag == object.etag) => {
            Err(S3Error::precondition_failed("If-Match"))
        }
        _ => Ok(()),
    }
}

/// The bytes of an object that are asked for.
struct View {
    status: StatusCode,
    range: Range<u64>,
    /// The part that is asked for: its place in the list of parts.
    part: Option<usize>,
    ranged: bool,
}

fn view(call: &Call, found: &Found) -> Result<View, S3Error> {
    let length = found.object.length();
    let whole = View { status: StatusCode::OK, range: 0..length, part: None, ranged: false };
    match preconditions(&call.parts.headers, &found.object)? {
        Precondition::Holds => {}
        Precondition::NotModified => return Ok(View { status: StatusCode::NOT_MODIFIED, range: 0..0, ..whole }),
    }
    if let Some(number) = part_number(call)? {
        return part(number, found, whole);
    }
    match call.header("range").map(|range| headers::range(range, length)).transpose()?.flatten() {
        Some(range) => Ok(View { status: StatusCode::PARTIAL_CONTENT, range, part: None, ranged: true }),
        None => Ok(whole),
    }
}

/// The number of the part that is asked for, if one is.
fn part_number(call: &Call) -> Result<Option<u16>, S3Error> {
    match call.query.get("partNumber") {
        None => Ok(None),
        Some(_) if call.header("range").is_some() => Err(S3Error::range_and_part_number()),
        Some(_) => parts::number(call).map(Some),
    }
}

/// The bytes of one part. An object that was uploaded whole is its own part number 1.
fn part(wanted: u16, found: &Found, whole: View) -> Result<View, S3Error> {
    let parts = &found.kept.parts;
    if parts.is_empty() {
        // S3 answers as to a range of all.
        let ranged = whole.range.end > 0;
        let status = if ranged { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
        return match wanted {
            1 => Ok(View { status, ranged, ..whole }),
            _ => Err(S3Error::no_such_part_number(u32::from(wanted), 1)),
        };
    }
    let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let Some(at) = parts.iter().position(|part| part.number == wanted) else {
        return Err(S3Error::no_such_part_number(u32::from(wanted), count));
    };
    let start = parts[..at].iter().map(|part| part.length).sum::<u64>();
    let range = start..start + parts[at].length;
    Ok(View { status: StatusCode::PARTIAL_CONTENT, range, part: Some(at), ranged: true })
}

/// What is sent before the bytes.
fn describe(call: &Call, found: &Found, view: &View) -> Answer {
    let Found { object, kept } = found;
    let mut answer = Answer::empty(view.status);
    answer.set("etag", format!("\"{}\"", object.etag));
    answer.set("last-modified", http_date(object.modified));
    answer.set("accept-ranges", "bytes");
    answer.set("content-type", "binary/octet-stream");
    for (name, value) in &kept.headers {
        answer.set(name.as_str(), value);
    }
    for (name, value) in &kept.metadata {
        answer.set(format!("x-amz-meta-{name}"), value);
    }
    for (parameter, name) in OVERRIDES {
        if let Some(value) = call.query.get(parameter) {
            answer.set(*name, value);
        }
    }
    if view.ranged && !view.range.is_empty() {
        let Range { start, end } = view.range;
        answer.set("content-range", format!("bytes {start}-{}/{}", end - 1, object.length()));
    }
    if call.query.has("partNumber") && !kept.parts.is_empty() {
        answer.set("x-amz-mp-parts-count", kept.parts.len().to_string());
    }
    // Clients would compare a body that does not come.
    let has_body = view.status != StatusCode::NOT_MODIFIED;
    if has_body && call.header("x-amz-checksum-mode").is_some_and(|mode| mode.eq_ignore_ascii_case("enabled")) {
        describe_checksum(&mut answer, kept, view);
    }
    answer
}

/// The checksum of what is sent. A range has none; a part has its own if the object's is made of those.
fn describe_checksum(answer: &mut Answer, kept: &Kept, view: &View) {
    let Some(object) = &kept.checksum else { return };
    let header = object.checksum.algorithm().header();
    match view.part {
        Some(at) => {
            let part = kept.parts.get(at).and_then(|part| part.checksum);
            if let (Some(checksum), ChecksumType::Composite) = (part, object.kind) {
                answer.set(header, checksum.to_string());
                answer.set("x-amz-checksum-type", object.kind.name());
            }
        }
        None if view.ranged => {}
        None => {
            answer.set(header, object.to_string());
            answer.set("x-amz-checksum-type", object.kind.name());
        }
    }
}

/// Parameters that replace a header of the answer.
const OVERRIDES: &[(&str, &str)] = &[
    ("response-cache-control", "cache-control"),
    ("response-content-disposition", "content-disposition"),
    ("response-content-encoding", "content-encoding"),
    ("response-content-language", "content-language"),
    ("response-content-type", "content-type"),
    ("response-expires", "expires"),
];

pub(super) fn http_date(milliseconds: i64) -> String {
    time::http_date(Timestamp::from_millisecond(milliseconds).unwrap_or_default())
}

/// What the conditions of a read come to.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Precondition {
    Holds,
    NotModified,
}

/// The conditions of a read, as RFC 9110 has them: tags before dates.
fn preconditions(headers: &HeaderMap, object: &Object) -> Result<Precondition, S3Error> {
    conditions(headers, ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"], object)
}

/// Conditions by the names of their headers: a tag that must be there, one that must not, and the dates of both kinds.
pub(super) fn conditions(headers: &HeaderMap, names: [&str; 4], object: &Object) -> Result<Precondition, S3Error> {
    let [matches, none_matches, modified, unmodified] = names.map(|name| headers::text(headers, name));
    // Dates have whole seconds. One that cannot be read is no condition.
    let date = |text: Option<&str>| text.and_then(|text| time::parse_http_date(text).ok()).map(Timestamp::as_second);
    let second = object.modified.div_euclid(1000);
    match (matches, date(unmodified)) {
        (Some(list), _) if !ETagCondition::parse(list).matches_strongly(&object.etag) => {
            return Err(S3Error::precondition_failed("If-Match"));
        }
        (None, Some(since)) if second > since => return Err(S3Error::precondition_failed("If-Unmodified-Since")),
        _ => {}
    }
    match (none_matches, date(modified)) {
        (Some(list), _) if ETagCondition::parse(list).matches_weakly(&object.etag) => Ok(Precondition::NotModified),
        (None, Some(since)) if second <= since => Ok(Precondition::NotModified),
        _ => Ok(Precondition::Holds),
    }
}
