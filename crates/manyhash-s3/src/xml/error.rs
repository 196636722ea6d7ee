//! A refusal, as a client reads it. Servers write theirs with [`S3Error::to_xml`](crate::S3Error::to_xml).

use super::element::elements;
use crate::error::ErrorCode;

elements! {
    /// The body of a refusal.
    ///
    /// It can also come with the status 200, as the answer to CompleteMultipartUpload and to copies, when something
    /// fails after the answer was begun.
    ErrorResponse("Error") {
        /// The code's name.
        code: String = "Code",
        /// The message.
        message: String = "Message",
        /// What the request was about.
        resource: Option<String> = "Resource",
        /// The request, in the server's records.
        request_id: Option<String> = "RequestId",
        /// More of the same.
        host_id: Option<String> = "HostId",
        /// The region that the request should have been for.
        region: Option<String> = "Region",
        /// Where the request should have been sent to.
        endpoint: Option<String> = "Endpoint",
    }
}

impl ErrorResponse {
    /// Returns the code, or `None` if it is not known here.
    pub fn error_code(&self) -> Option<ErrorCode> {
        ErrorCode::from_code(&self.code)
    }
}
