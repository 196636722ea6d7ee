//! Bytes as the document of a request. What is read is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use manyhash_s3::error::ErrorCode;
use manyhash_s3::xml::{CompleteMultipartUpload, CreateBucketConfiguration, Delete};

/// Reads the document as a request of a type, and again what is written of it.
macro_rules! read_again {
    ($type:ident, $bytes:expr) => {
        match $type::from_request($bytes) {
            Ok(request) => {
                let written = request.to_xml();
                assert_eq!($type::from_request(written.as_bytes()), Ok(request), "{written}");
            }
            Err(error) => assert!(matches!(
                error.code,
                ErrorCode::MalformedXML
                    | ErrorCode::InvalidArgument
                    | ErrorCode::MaxMessageLengthExceeded
                    | ErrorCode::NotImplemented
            )),
        }
    };
}

fuzz_target!(|bytes: &[u8]| {
    read_again!(CompleteMultipartUpload, bytes);
    read_again!(Delete, bytes);
    read_again!(CreateBucketConfiguration, bytes);
});
