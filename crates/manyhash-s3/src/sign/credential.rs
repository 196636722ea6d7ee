//! The credential in a header or query: `ACCESS-KEY/20130524/us-east-1/s3/aws4_request`.

use super::{SERVICE, TERMINATOR};
use crate::error::{ErrorCode, S3Error};
use crate::time;

/// Where a request has its signature. Errors differ in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Header,
    Query,
}

impl Place {
    /// Refuses the credential.
    pub(super) fn error(self, about: &str) -> S3Error {
        match self {
            Place::Header => malformed_header(about),
            Place::Query => malformed_query(format!("Error parsing the X-Amz-Credential parameter; {about}")),
        }
    }
}

pub(super) fn malformed_header(about: &str) -> S3Error {
    S3Error::new(ErrorCode::AuthorizationHeaderMalformed)
        .with_message(format!("The authorization header is malformed; {about}"))
}

pub(super) fn malformed_query(message: String) -> S3Error {
    S3Error::new(ErrorCode::AuthorizationQueryParametersError).with_message(message)
}

/// What a credential says.
pub(super) struct Credential<'t> {
    pub(super) access_key: &'t str,
    pub(super) day: &'t str,
    pub(super) region: &'t str,
}

impl<'t> Credential<'t> {
    pub(super) fn parse(text: &'t str, place: Place) -> Result<Self, S3Error> {
        let parts: Vec<&str> = text.splitn(6, '/').collect();
        let &[access_key, day, region, service, terminator] = &parts[..] else {
            let form = r#"expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request"."#;
            return Err(place.error(&format!("the Credential is mal-formed; {form}")));
        };
        if service != SERVICE {
            let about = format!("incorrect service {service:?}. This endpoint belongs to {SERVICE:?}.");
            return Err(place.error(&about));
        }
        if terminator != TERMINATOR {
            let about = format!("incorrect terminal {terminator:?}. This endpoint uses {TERMINATOR:?}.");
            return Err(place.error(&about));
        }
        if time::parse_amz_date(&format!("{day}T000000Z")).is_err() {
            let form = r#"This date in the credential must be in the format "yyyyMMdd"."#;
            return Err(place.error(&format!("incorrect date format {day:?}. {form}")));
        }
        Ok(Credential { access_key, day, region })
    }
}
