//! PutObject.

use super::commit;
use crate::call::Call;
use crate::headers;
use crate::kept;
use crate::response::Answer;
use http::StatusCode;
use manyhash_s3::checksum::ObjectChecksum;
use manyhash_s3::error::S3Error;
use manyhash_s3::etag;
use manyhash_store::Change;

pub(super) async fn object(call: &mut Call) -> Result<Answer, S3Error> {
    let mut kept = headers::kept(&call.parts.headers)?;
    let condition = headers::write_condition(&call.parts.headers)?;
    call.expect_bucket()?;
    // What is known to fail is refused before the body. It is looked at again when the object is committed.
    super::get::expect_writable(call, &condition)?;
    let verified = call.receive(None).await?;
    let checksum = ObjectChecksum::of_body(verified.checksum);
    kept.checksum = Some(checksum);
    let etag = etag::single(&verified.md5);
    let change = Change::Put {
        bucket: call.bucket().to_owned(),
        key: call.key().to_owned(),
        content: verified.content,
        modified: call.state.milliseconds(),
        etag: etag.clone(),
        attributes: kept::encode(&kept)?,
        condition,
    };
    commit(call, change).await?;
    Ok(Answer::empty(StatusCode::OK)
        .with("etag", format!("\"{etag}\""))
        .with(checksum.checksum.algorithm().header(), checksum.to_string())
        .with("x-amz-checksum-type", checksum.kind.name()))
}
