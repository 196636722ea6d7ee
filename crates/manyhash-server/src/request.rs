//! What a request asks for: the bucket and key of its path, its query, and the operation they amount to.

use crate::keys::Access;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use manyhash_s3::error::{ErrorCode, S3Error};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::fmt;

/// The longest key, in bytes of UTF-8.
const LONGEST_KEY: usize = 1024;

/// A bucket and a key in it, as the path names them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) bucket: Option<String>,
    pub(crate) key: Option<String>,
}

impl Target {
    /// Splits a path, `/bucket/key`.
    pub(crate) fn of_path(path: &str) -> Result<Self, S3Error> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let (bucket, key) = match path.split_once('/') {
            Some((bucket, key)) => (bucket, key),
            None => (path, ""),
        };
        let [bucket, key] = [decode(bucket)?, decode(key)?];
        if key.len() > LONGEST_KEY {
            return Err(S3Error::from(ErrorCode::KeyTooLongError)
                .with("Size", key.len().to_string())
                .with("MaxSizeAllowed", LONGEST_KEY.to_string()));
        }
        // The index ends a bucket's name with it.
        if key.contains('\0') {
            return Err(ErrorCode::InvalidURI.into());
        }
        let some = |text: String| (!text.is_empty()).then_some(text);
        Ok(Target { bucket: some(bucket), key: some(key) })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bucket, key] = [&self.bucket, &self.key].map(|name| name.as_deref().unwrap_or_default());
        write!(f, "{bucket}/{key}")
    }
}

fn decode(text: &str) -> Result<String, S3Error> {
    match percent_decode_str(text).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(ErrorCode::InvalidURI.into()),
    }
}

/// Parameters of a presigned URL that are about its signature. All others that begin with `x-amz-` are headers.
const OF_SIGNATURES: &[&str] = &[
    "x-amz-algorithm",
    "x-amz-content-sha256",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
];

/// The header that makes a request a copy.
const COPY_SOURCE: &str = "x-amz-copy-source";

/// The parameters of a query, decoded, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(uri: &Uri) -> Result<Self, S3Error> {
        let parts = uri.query().unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let plain = |text: &str| -> Result<String, S3Error> {
                let text = if text.contains('+') { Cow::Owned(text.replace('+', " ")) } else { Cow::Borrowed(text) };
                decode(&text)
            };
            Ok((plain(name)?, plain(value)?))
        };
        Ok(Query(parts.map(pair).collect::<Result<_, S3Error>>()?))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(candidate, _)| candidate == name).map(|(_, value)| &**value)
    }

    /// Puts into the headers what a presigned URL carries of them: its parameters are signed as headers would be. What is
    /// not done is found among them, and refused.
    pub(crate) fn hoist(&self, headers: &mut HeaderMap) -> Result<(), S3Error> {
        for (parameter, value) in &self.0 {
            let name = parameter.to_ascii_lowercase();
            if !name.starts_with("x-amz-") || OF_SIGNATURES.contains(&&*name) {
                continue;
            }
            let (Ok(name), Ok(header)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
                return Err(S3Error::invalid_argument(parameter, value, "The parameter cannot be a header."));
            };
            headers.entry(name).or_insert(header);
        }
        Ok(())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether a header of this name is hoisted.
    fn has_header(&self, name: &str) -> bool {
        self.0.iter().any(|(candidate, _)| candidate.eq_ignore_ascii_case(name))
    }

    /// The parameters without a value: S3 names parts of a bucket or an object by them.
    fn bare(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, value)| value.is_empty()).map(|(name, _)| &**name)
    }

    /// A parameter that is there and not empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }
}

/// The table of operations: what each does as far as rights are concerned.
macro_rules! operations {
    ($($name:ident: $access:ident,)*) => {
        /// An operation of S3 that is served.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum Operation { $($name,)* }

        impl Operation {
            pub(crate) const ALL: &[Operation] = &[$(Operation::$name,)*];

            /// S3's name.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Operation::$name => stringify!($name),)* }
            }

            pub(crate) fn access(self) -> Access {
                match self { $(Operation::$name => Access::$access,)* }
            }
        }
    };
}

operations! {
    ListBuckets: Read,
    CreateBucket: Write,
    HeadBucket: Read,
    DeleteBucket: Write,
    GetBucketLocation: Read,
    GetBucketVersioning: Read,
    ListObjects: Read,
    ListObjectsV2: Read,
    ListMultipartUploads: Read,
    DeleteObjects: Write,
    PutObject: Write,
    CopyObject: Write,
    GetObject: Read,
    HeadObject: Read,
    DeleteObject: Write,
    GetObjectAttributes: Read,
    CreateMultipartUpload: Write,
    UploadPart: Write,
    UploadPartCopy: Write,
    CompleteMultipartUpload: Write,
    AbortMultipartUpload: Write,
    ListParts: Read,
}

/// Parameters that name a part of S3 that is not served. Without this list, `PUT /bucket/key?tagging` would store an object.
const NOT_SERVED: &[&str] = &[
    "abac",
    "accelerate",
    "acl",
    "analytics",
    "annotation",
    "attributes-v2",
    "cors",
    "encryption",
    "intelligent-tiering",
    "inventory",
    "legal-hold",
    "lifecycle",
    "logging",
    "metadataAnnotationTable",
    "metadataConfiguration",
    "metadataInventoryTable",
    "metadataJournalTable",
    "metadataTable",
    "metrics",
    "notification",
    "object-lock",
    "ownershipControls",
    "policy",
    "policyStatus",
    "publicAccessBlock",
    "renameObject",
    "replication",
    "requestPayment",
    "restore",
    "retention",
    "select",
    "session",
    "tagging",
    "torrent",
    "versions",
    "website",
];

/// Refuses to change something for whoever names a part of it that is not known here. S3 gets more such parts every year:
/// `DELETE /bucket/key?annotation` must not delete the object.
fn expect_known_parts(method: &Method, query: &Query) -> Result<(), S3Error> {
    let known: &[&str] = match method.as_str() {
        "PUT" => &["partNumber", "uploadId"],
        "POST" => &["delete", "uploads", "uploadId"],
        "DELETE" => &["uploadId", "versionId"],
        _ => return Ok(()),
    };
    // What begins with `x-` is a header, or the client's own.
    let is_known = |name: &&str| known.contains(name) || name.get(..2).is_some_and(|x| x.eq_ignore_ascii_case("x-"));
    match query.bare().find(|name| !is_known(name)) {
        Some(name) => Err(S3Error::parameter_not_implemented(name)),
        None => Ok(()),
    }
}

impl Operation {
    /// The operation that a method, a target, a query and headers amount to.
    pub(crate) fn of(method: &Method, target: &Target, query: &Query, headers: &HeaderMap) -> Result<Self, S3Error> {
        use Operation::*;
        if query.has("versions") && target.key.is_some() && method == Method::GET {
            return Err(S3Error::new(ErrorCode::InvalidRequest)
                .with_message("There is no such thing as the ?versions sub-resource for a key"));
        }
        if let Some(name) = NOT_SERVED.iter().find(|name| query.has(name)) {
            return Err(S3Error::parameter_not_implemented(name));
        }
        expect_known_parts(method, query)?;
        let copies = headers.contains_key(COPY_SOURCE) || query.has_header(COPY_SOURCE);
        if copies && method != Method::PUT {
            let message = "You can only specify a copy source header for copy requests.";
            let value = headers.get(COPY_SOURCE).and_then(|value| value.to_str().ok()).unwrap_or_default();
            return Err(S3Error::invalid_argument(COPY_SOURCE, value, message));
        }
        let operation = match (method.as_str(), &target.bucket, &target.key) {
            ("GET", None, _) => ListBuckets,
            ("PUT", Some(_), None) if query.has("versioning") => return Err(ErrorCode::NotImplemented.into()),
            ("PUT", Some(_), None) => CreateBucket,
            ("HEAD", Some(_), None) => HeadBucket,
            ("DELETE", Some(_), None) => DeleteBucket,
            ("GET", Some(_), None) if query.has("location") => GetBucketLocation,
            ("GET", Some(_), None) if query.has("versioning") => GetBucketVersioning,
            ("GET", Some(_), None) if query.has("uploads") => ListMultipartUploads,
            ("GET", Some(_), None) if query.get("list-type") == Some("2") => ListObjectsV2,
            ("GET", Some(_), None) => ListObjects,
            ("POST", Some(_), None) if query.has("delete") => DeleteObjects,
            ("PUT", Some(_), Some(_)) if query.has("partNumber") && !query.has("uploadId") => {
                let message = "This operation does not accept partNumber without uploadId";
                let number = query.get("partNumber").unwrap_or_default();
                return Err(S3Error::invalid_argument("partNumber", number, message));
            }
            ("PUT", Some(_), Some(_)) if query.has("partNumber") && copies => UploadPartCopy,
            ("PUT", Some(_), Some(_)) if query.has("partNumber") => UploadPart,
            ("PUT", Some(_), Some(_)) if query.has("uploadId") => {
                return Err(S3Error::method_not_allowed("PUT", "UPLOAD"));
            }
            ("PUT", Some(_), Some(_)) if copies => CopyObject,
            ("PUT", Some(_), Some(_)) => PutObject,
            ("GET", Some(_), Some(_)) if query.has("attributes") => GetObjectAttributes,
            ("GET", Some(_), Some(_)) if query.has("uploadId") => ListParts,
            ("GET", Some(_), Some(_)) if query.has("uploads") => {
                return Err(S3Error::new(ErrorCode::InvalidRequest)
                    .with_message("Key is not expected for the GET method ?uploads subresource"));
            }
            ("GET", Some(_), Some(_)) => GetObject,
            ("HEAD", Some(_), Some(_)) => HeadObject,
            ("DELETE", Some(_), Some(_)) if query.has("uploadId") => AbortMultipartUpload,
            ("DELETE", Some(_), Some(_)) => DeleteObject,
            ("POST", Some(_), Some(_)) if query.has("uploads") => CreateMultipartUpload,
            ("POST", Some(_), Some(_)) if query.has("uploadId") => CompleteMultipartUpload,
            (method, None, _) => return Err(S3Error::method_not_allowed(method, "SERVICE")),
            (method, Some(_), None) => return Err(S3Error::method_not_allowed(method, "BUCKET")),
            (method, Some(_), Some(_)) => return Err(S3Error::method_not_allowed(method, "OBJECT")),
        };
        Ok(operation)
    }

    /// Whether S3 takes a body with it.
    pub(crate) fn takes_body(self) -> bool {
        use Operation::*;
        matches!(self, CreateBucket | DeleteObjects | PutObject | UploadPart | CompleteMultipartUpload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(method: &str, uri: &str) -> Result<Operation, S3Error> {
        let uri: Uri = uri.parse().unwrap();
        let target = Target::of_path(uri.path())?;
        Operation::of(&method.parse().unwrap(), &target, &Query::of(&uri)?, &HeaderMap::new())
    }

    #[test]
    fn paths_and_queries_name_operations() {
        use Operation::*;
        for (method, uri, expected) in [
            ("GET", "/", ListBuckets),
            ("PUT", "/b", CreateBucket),
            ("PUT", "/b/", CreateBucket),
            ("GET", "/b?list-type=2&prefix=x", ListObjectsV2),
            ("GET", "/b/?prefix=x", ListObjects),
            ("GET", "/b?location", GetBucketLocation),
            ("GET", "/b?uploads=", ListMultipartUploads),
            ("POST", "/b?delete", DeleteObjects),
            ("PUT", "/b/k", PutObject),
            ("PUT", "/b/k?partNumber=1&uploadId=u", UploadPart),
            ("GET", "/b/k?partNumber=1", GetObject),
            ("GET", "/b/k?attributes", GetObjectAttributes),
            ("POST", "/b/k?uploads", CreateMultipartUpload),
            ("POST", "/b/k?uploadId=u", CompleteMultipartUpload),
            ("DELETE", "/b/k?uploadId=u", AbortMultipartUpload),
            ("DELETE", "/b/k", DeleteObject),
            ("DELETE", "/b/k?versionId=&x-id=DeleteObject", DeleteObject),
            ("PUT", "/b/k?x-trace&X-Amz-Tagging=&partner=1", PutObject),
            ("PUT", "/b/k?X-Amz-Copy-Source=b%2Fl", CopyObject),
            ("GET", "/b/k?mine", GetObject),
        ] {
            assert_eq!(operation(method, uri).ok(), Some(expected), "{method} {uri}");
        }
        for (method, uri, code) in [
            ("PUT", "/b/k?tagging", ErrorCode::NotImplemented),
            ("PUT", "/b/k?annotation&annotationName=a", ErrorCode::NotImplemented),
            ("DELETE", "/b/k?of-a-later-year", ErrorCode::NotImplemented),
            ("DELETE", "/b?location", ErrorCode::NotImplemented),
            ("PUT", "/b?versioning", ErrorCode::NotImplemented),
            ("PUT", "/b/k?uploads", ErrorCode::NotImplemented),
            ("GET", "/b?acl", ErrorCode::NotImplemented),
            ("POST", "/b/k", ErrorCode::MethodNotAllowed),
            ("PATCH", "/b/k", ErrorCode::MethodNotAllowed),
            ("GET", "/b/%ff", ErrorCode::InvalidURI),
            ("GET", "/b/%00", ErrorCode::InvalidURI),
        ] {
            assert_eq!(operation(method, uri).unwrap_err().code, code, "{method} {uri}");
        }
    }

    #[test]
    fn keys_are_decoded_and_bounded() {
        let target = Target::of_path("/b/a%20b/%C3%BC+//x").unwrap();
        assert_eq!(target.key.as_deref(), Some("a b/ü+//x"));
        assert!(Target::of_path(&format!("/b/{}", "k".repeat(1024))).is_ok());
        let error = Target::of_path(&format!("/b/{}", "k".repeat(1025))).unwrap_err();
        assert_eq!(error.code, ErrorCode::KeyTooLongError);
    }

    #[test]
    fn what_is_signed_as_a_parameter_is_a_header() {
        let hoisted = |uri: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-amz-acl", HeaderValue::from_static("private"));
            Query::of(&uri.parse().unwrap()).unwrap().hoist(&mut headers).map(|()| headers)
        };
        let headers =
            hoisted("/b/k?X-Amz-Date=d&X-Amz-Signature=s&X-Amz-Tagging=a%3Db&x-amz-acl=public-read&y=z").unwrap();
        assert_eq!(headers.len(), 2);
        assert_eq!(headers["x-amz-tagging"], "a=b");
        assert_eq!(headers["x-amz-acl"], "private");
        assert_eq!(hoisted("/b/k?x-amz-tagging=%0A").unwrap_err().code, ErrorCode::InvalidArgument);
    }

    #[test]
    fn queries_are_decoded() {
        let query = Query::of(&"/b?prefix=a+b%2Fc&max-keys=3&delimiter".parse().unwrap()).unwrap();
        assert_eq!(query.get("prefix"), Some("a b/c"));
        assert_eq!(query.get("delimiter"), Some(""));
        assert_eq!(query.filled("delimiter"), None);
        assert_eq!(query.get("marker"), None);
    }
}
