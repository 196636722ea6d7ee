//! DeleteObject and DeleteObjects.

use super::{commit, get, refusal};
use crate::call::Call;
use crate::headers;
use crate::keys::Access;
use crate::response::Answer;
use http::StatusCode;
use manyhash_s3::error::{ErrorCode, S3Error};
use manyhash_s3::xml::{Delete, DeleteError, DeleteResult, Deleted};
use manyhash_store::{Change, Condition};

pub(super) async fn object(call: &Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    get::expect_no_version(call.query.get("versionId"))?;
    let condition = Condition { etag: call.header("if-match").map(headers::etags), ..Condition::default() };
    // To delete what is not there is no error.
    commit(call, Change::Delete { bucket: call.bucket().to_owned(), key: call.key().to_owned(), condition }).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

pub(super) async fn objects(call: &mut Call) -> Result<Answer, S3Error> {
    call.expect_bucket()?;
    let body = call.receive_document(true).await?;
    let request = Delete::from_request(&body)?;
    let mut result = DeleteResult::default();
    // All are under way before the first is waited for, so that they are made to last together.
    let mut under_way = Vec::new();
    for object in request.objects {
        if let Err(error) = get::expect_no_version(object.version_id.as_deref()) {
            result.errors.push(DeleteError::new(object.key, &error));
            continue;
        }
        let right = call.caller.key.may(Access::Write, call.bucket(), Some(&object.key));
        if !right {
            result.errors.push(DeleteError::new(object.key, &ErrorCode::AccessDenied.into()));
            continue;
        }
        if object.size.is_some() || object.last_modified_time.is_some() {
            // Conditions of directory buckets, which these are not.
            result.errors.push(DeleteError::new(object.key, &ErrorCode::NotImplemented.into()));
            continue;
        }
        let condition =
            Condition { etag: object.etag.map(|etag| vec![etag.as_str().to_owned()]), ..Condition::default() };
        let change = Change::Delete { bucket: call.bucket().to_owned(), key: object.key.clone(), condition };
        under_way.push((object.key, call.state.store.commit(change)));
    }
    for (key, committing) in under_way {
        match committing.await {
            Ok(_) if request.quiet => {}
            Ok(_) => result.deleted.push(Deleted { key, ..Deleted::default() }),
            Err(error) => result.errors.push(DeleteError::new(key, &refusal(call, &error))),
        }
    }
    Ok(Answer::xml(StatusCode::OK, result.to_xml()))
}
