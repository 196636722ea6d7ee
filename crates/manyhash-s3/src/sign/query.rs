//! The query of a presigned URL.

use super::authorization::{Authorization, signed_headers};
use super::credential::{Credential, Place, malformed_query};
use super::header::unsupported_version;
use super::{ALGORITHM, MAX_EXPIRES_SECONDS, SERVICE, query_pairs};
use crate::error::{ErrorCode, S3Error};
use crate::time;
use http::Uri;

/// The parameters of a query that have to do with signatures, decoded. Of several with one name, the first counts: the
/// others are part of what is signed.
pub(super) struct Parameters(Vec<(String, String)>);

/// Those of which any makes a URL a presigned one.
const MARKS: [&str; 6] =
    ["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders", "X-Amz-Signature"];

/// The same of version 2.
const OLD_MARKS: [&str; 2] = ["AWSAccessKeyId", "Signature"];

impl Parameters {
    pub(super) fn of(uri: &Uri) -> Parameters {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let is_ours = |name: &[u8]| name.starts_with(b"X-Amz-") || OLD_MARKS.iter().any(|mark| mark.as_bytes() == name);
        let pairs = query_pairs(uri.query().unwrap_or_default());
        Parameters(pairs.filter(|(name, _)| is_ours(name)).map(|(name, value)| (text(&name), text(&value))).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn have_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }

    /// Whether they sign the request, so that a header must not.
    pub(super) fn are_a_signature(&self) -> bool {
        self.have_any(&["X-Amz-Algorithm", "X-Amz-Signature", "Signature"])
    }

    /// Reads a signature, if there is one.
    pub(super) fn parse(&self) -> Result<Option<Authorization>, S3Error> {
        if self.have_any(&MARKS) {
            self.parse_presigned().map(Some)
        } else if self.have_any(&OLD_MARKS) {
            Err(unsupported_version())
        } else {
            Ok(None)
        }
    }

    fn parse_presigned(&self) -> Result<Authorization, S3Error> {
        let required = |name: &str| {
            // The code's own message names all that are required.
            let value = self.get(name).filter(|value| !value.is_empty());
            value.ok_or(ErrorCode::AuthorizationQueryParametersError)
        };
        match required("X-Amz-Algorithm")? {
            ALGORITHM => {}
            "AWS4-ECDSA-P256-SHA256" => {
                return Err(malformed_query(format!("X-Amz-Algorithm only supports {ALGORITHM:?}")));
            }
            _ => {
                let message = format!("X-Amz-Algorithm only supports \"{ALGORITHM} and AWS4-ECDSA-P256-SHA256\"");
                return Err(malformed_query(message));
            }
        }
        let Credential { access_key, day, region } = Credential::parse(required("X-Amz-Credential")?, Place::Query)?;
        let timestamp = time::parse_amz_date(required("X-Amz-Date")?).map_err(|_| {
            let form = r#"the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'""#;
            malformed_query(format!("X-Amz-Date must be in {form}"))
        })?;
        let day_of_date = time::amz_day(timestamp);
        if day_of_date != day {
            return Err(malformed_query(format!(
                "Invalid credential date {day:?}. This date is not the same as X-Amz-Date: {day_of_date:?}."
            )));
        }
        let signature = required("X-Amz-Signature")?;
        let names = required("X-Amz-SignedHeaders")?;
        let expires = expires(required("X-Amz-Expires")?)?;
        Ok(Authorization {
            access_key: access_key.to_owned(),
            date: day.to_owned(),
            region: region.to_owned(),
            service: SERVICE.to_owned(),
            signed_headers: signed_headers(names, Place::Query)?,
            timestamp,
            presigned_expires: Some(expires),
            session_token: self.get("X-Amz-Security-Token").map(str::to_owned),
            signature: signature.to_owned(),
        })
    }
}

/// For how many seconds a URL is valid.
fn expires(text: &str) -> Result<u32, S3Error> {
    let message = match text.parse::<i64>() {
        Err(_) => "X-Amz-Expires should be a number",
        Ok(..0) => "X-Amz-Expires must be non-negative",
        Ok(0) => "X-Amz-Expires must be at least 1 second",
        Ok(seconds) => match u32::try_from(seconds) {
            Ok(seconds @ ..=MAX_EXPIRES_SECONDS) => return Ok(seconds),
            _ => {
                "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less \
                 than 604800 seconds"
            }
        },
    };
    Err(malformed_query(message.to_owned()))
}
