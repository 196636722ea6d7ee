//! The header `Authorization`, and the date that goes with it.

use super::authorization::{Authorization, signed_headers};
use super::credential::{Credential, Place, malformed_header};
use super::{ALGORITHM, SERVICE, X_AMZ_DATE, X_AMZ_SECURITY_TOKEN};
use crate::error::{ErrorCode, S3Error};
use crate::time;
use http::{HeaderMap, header};
use jiff::Timestamp;

/// The value of the header, if there is one.
pub(super) fn value(headers: &HeaderMap) -> Result<Option<&str>, S3Error> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| not_two_words("")),
        (Some(_), Some(_)) => Err(not_two_words("")),
    }
}

/// Reads `AWS4-HMAC-SHA256 Credential=..., SignedHeaders=..., Signature=...`.
pub(super) fn parse(value: &str, headers: &HeaderMap) -> Result<Authorization, S3Error> {
    let (algorithm, rest) = value.split_once(' ').ok_or_else(|| not_two_words(value))?;
    match algorithm {
        ALGORITHM => {}
        "AWS" => return Err(unsupported_version()),
        _ => return Err(S3Error::invalid_argument("Authorization", algorithm, "Unsupported Authorization Type")),
    }

    let components: Vec<&str> = rest.splitn(4, ',').collect();
    let components: [&str; 3] = components.try_into().map_err(|_| {
        malformed_header(
            "the authorization header requires three components: Credential, SignedHeaders, and Signature.",
        )
    })?;
    let mut pairs = [("", ""); 3];
    for (pair, component) in pairs.iter_mut().zip(components) {
        let component = component.trim_ascii();
        *pair = component
            .split_once('=')
            .filter(|(_, value)| !value.contains('='))
            .ok_or_else(|| malformed_header(&format!("the authorization component {component:?} is malformed.")))?;
    }
    let find = |name: &str| {
        let pair = pairs.iter().find(|(key, _)| *key == name);
        pair.map(|(_, value)| *value).ok_or_else(|| malformed_header(&format!("missing {name}.")))
    };
    let (credential, names, signature) = (find("Credential")?, find("SignedHeaders")?, find("Signature")?);
    let Credential { access_key, day, region } = Credential::parse(credential, Place::Header)?;

    let timestamp = date(headers).ok_or_else(|| {
        S3Error::new(ErrorCode::AccessDenied)
            .with_message("AWS authentication requires a valid Date or x-amz-date header.")
    })?;
    if time::amz_day(timestamp) != day {
        return Err(malformed_header("Invalid credential date. Date is not the same as X-Amz-Date."));
    }
    let session_token = headers.get(X_AMZ_SECURITY_TOKEN);
    Ok(Authorization {
        access_key: access_key.to_owned(),
        date: day.to_owned(),
        region: region.to_owned(),
        service: SERVICE.to_owned(),
        signed_headers: signed_headers(names, Place::Header)?,
        timestamp,
        presigned_expires: None,
        session_token: session_token.map(|token| String::from_utf8_lossy(token.as_bytes()).into_owned()),
        signature: signature.to_owned(),
    })
}

/// When the request was signed: `x-amz-date`, or where there is none, `Date` in its form or in HTTP's.
fn date(headers: &HeaderMap) -> Option<Timestamp> {
    if let Some(date) = headers.get(X_AMZ_DATE) {
        return time::parse_amz_date(date.to_str().ok()?).ok();
    }
    let date = headers.get(header::DATE)?.to_str().ok()?;
    time::parse_amz_date(date).or_else(|_| time::parse_http_date(date)).ok()
}

fn not_two_words(value: &str) -> S3Error {
    let message = "Authorization header is invalid -- one and only one ' ' (space) required.";
    S3Error::invalid_argument("Authorization", value, message)
}

/// Refuses a signature of version 2.
pub(super) fn unsupported_version() -> S3Error {
    S3Error::new(ErrorCode::InvalidRequest)
        .with_message("The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.")
}
