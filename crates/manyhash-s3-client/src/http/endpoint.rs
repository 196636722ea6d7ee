//! Where a bucket's requests go: AWS's own hosts, or any other service's.

use super::config::ConfigError;
use http::Uri;
use http::uri::{Authority, Scheme};
use std::fmt;
use std::str::FromStr;

/// Where the name of a bucket stands in a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Addressing {
    /// In the host for AWS, if the name can be part of one, and in the path for others, which often have no such hosts.
    #[default]
    Auto,
    /// In the path: `https://host/bucket/key`.
    Path,
    /// In the host: `https://bucket.host/key`.
    Virtual,
}

impl FromStr for Addressing {
    type Err = UnknownAddressingError;

    fn from_str(name: &str) -> Result<Self, UnknownAddressingError> {
        match &*name.to_ascii_lowercase() {
            "auto" => Ok(Addressing::Auto),
            "path" => Ok(Addressing::Path),
            "virtual" => Ok(Addressing::Virtual),
            _ => Err(UnknownAddressingError { name: name.to_owned() }),
        }
    }
}

/// A name that is no addressing style.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown addressing style `{name}`: use auto, path or virtual")]
pub struct UnknownAddressingError {
    name: String,
}

/// A service, before it is known which bucket is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Endpoint {
    /// AWS's own, whose host depends on the region.
    Aws { fips: bool, dual_stack: bool },
    /// Another service, or one host of AWS.
    Given { scheme: Scheme, authority: Authority, path: String },
}

impl Endpoint {
    /// Reads an endpoint such as `https://host:9000` or `http://host/path`.
    pub(super) fn parse(text: &str) -> Result<Endpoint, ConfigError> {
        let error = |reason| ConfigError::Endpoint { url: text.to_owned(), reason };
        let uri: Uri = text.trim().parse().map_err(|_| error("is no URL"))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.ok_or_else(|| error("has no scheme: write http:// or https:// before the host"))?;
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(error("has another scheme than http or https"));
        }
        let authority = parts.authority.ok_or_else(|| error("has no host"))?;
        if authority.as_str().contains('@') {
            return Err(error("has a user in it: give keys by the environment or a profile"));
        }
        let path = parts.path_and_query.ok_or_else(|| error("is no URL"))?;
        if path.query().is_some() {
            return Err(error("has a query"));
        }
        Ok(Endpoint::Given { scheme, authority, path: path.path().trim_end_matches('/').to_owned() })
    }

    /// Returns whether it is AWS itself.
    pub(super) fn is_aws(&self) -> bool {
        match self {
            Endpoint::Aws { .. } => true,
            Endpoint::Given { authority, .. } => {
                let host = authority.host().to_ascii_lowercase();
                // Interface endpoints in a VPC too.
                host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn")
            }
        }
    }

    pub(super) fn is_tls(&self) -> bool {
        match self {
            Endpoint::Aws { .. } => true,
            Endpoint::Given { scheme, .. } => *scheme == Scheme::HTTPS,
        }
    }

    /// Returns where a bucket's requests go.
    pub(super) fn place(&self, bucket: &str, region: &str, addressing: Addressing) -> Result<Place, ConfigError> {
        check_bucket(bucket)?;
        let (scheme, authority, path) = match self {
            Endpoint::Aws { fips, dual_stack } => {
                let fips = if *fips { "s3-fips" } else { "s3" };
                let dual_stack = if *dual_stack { ".dualstack" } else { "" };
                let host = format!("{fips}{dual_stack}.{region}.{}", suffix(region));
                let authority = host.parse().map_err(|_| ConfigError::Region { region: region.to_owned() })?;
                (Scheme::HTTPS, authority, String::new())
            }
            Endpoint::Given { scheme, authority, path } => (scheme.clone(), authority.clone(), path.clone()),
        };
        let in_host = match addressing {
            Addressing::Virtual => true,
            Addressing::Path => false,
            // A wildcard certificate covers one label.
            Addressing::Auto => self.is_aws() && is_label(bucket),
        };
        if !in_host {
            return Ok(Place { scheme, authority, path: format!("{path}/{bucket}") });
        }
        let authority = format!("{bucket}.{authority}").parse();
        let authority = authority.map_err(|_| ConfigError::Bucket {
            bucket: bucket.to_owned(),
            reason: "cannot be part of a host: choose the addressing style `path`",
        })?;
        Ok(Place { scheme, authority, path })
    }
}

/// Where a bucket's requests go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    scheme: Scheme,
    authority: Authority,
    /// What keys come after: nothing, or a path without a slash at its end. It needs no encoding.
    path: String,
}

impl Place {
    /// The URI of an object, whose key is encoded, or of the bucket.
    pub(super) fn uri(&self, key: Option<&str>, query: &str) -> Result<Uri, http::Error> {
        let mut path = self.path.clone();
        match key {
            Some(key) => path.extend(["/", key]),
            None if path.is_empty() => path.push('/'),
            None => {}
        }
        if !query.is_empty() {
            path.extend(["?", query]);
        }
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path).build()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

/// What the hosts of a region end with. AWS's partitions are told by the beginnings of their regions' names.
fn suffix(region: &str) -> &'static str {
    const PARTITIONS: [(&str, &str); 6] = [
        ("cn-", "amazonaws.com.cn"),
        ("us-isob-", "sc2s.sgov.gov"),
        ("us-isof-", "csp.hci.ic.gov"),
        ("us-iso-", "c2s.ic.gov"),
        ("eu-isoe-", "cloud.adc-e.uk"),
        ("eusc-", "amazonaws.eu"),
    ];
    let partition = PARTITIONS.iter().find(|(prefix, _)| region.starts_with(prefix));
    partition.map_or("amazonaws.com", |(_, suffix)| suffix)
}

/// Refuses names that no bucket has and that would lead to another. Services differ in the rest.
fn check_bucket(bucket: &str) -> Result<(), ConfigError> {
    let error = |reason| Err(ConfigError::Bucket { bucket: bucket.to_owned(), reason });
    match bucket {
        "" => error("is empty"),
        "." | ".." => error("is no name of a bucket"),
        _ if bucket.starts_with("arn:") => error("is an ARN: give the name or alias of a bucket or access point"),
        _ if !bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) => {
            error("can have letters, digits, `-`, `.` and `_` only")
        }
        _ => Ok(()),
    }
}

/// Whether a name can be one label of a host.
fn is_label(bucket: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (3..=63).contains(&bucket.len()) && bucket.bytes().all(inner) && !bucket.starts_with('-') && !bucket.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(endpoint: &Endpoint, bucket: &str, region: &str, addressing: Addressing) -> String {
        let place = endpoint.place(bucket, region, addressing).unwrap();
        place.uri(Some("a/b"), "x=1").unwrap().to_string()
    }

    #[test]
    fn aws() {
        use Addressing::{Auto, Path, Virtual};
        let aws = |fips, dual_stack| Endpoint::Aws { fips, dual_stack };
        for (endpoint, bucket, region, addressing, expected) in [
            (aws(false, false), "photos", "eu-west-1", Auto, "https://photos.s3.eu-west-1.amazonaws.com/a/b?x=1"),
            (aws(true, false), "photos", "us-east-1", Auto, "https://photos.s3-fips.us-east-1.amazonaws.com/a/b?x=1"),
            (aws(false, true), "ph", "us-east-1", Virtual, "https://ph.s3.dualstack.us-east-1.amazonaws.com/a/b?x=1"),
            (
                aws(true, true),
                "b.c",
                "us-east-1",
                Auto,
                "https://s3-fips.dualstack.us-east-1.amazonaws.com/b.c/a/b?x=1",
            ),
            (aws(false, false), "photos", "cn-north-1", Path, "https://s3.cn-north-1.amazonaws.com.cn/photos/a/b?x=1"),
            (aws(false, false), "Photos", "us-iso-east-1", Auto, "https://s3.us-iso-east-1.c2s.ic.gov/Photos/a/b?x=1"),
            (aws(false, false), "bbb", "us-isob-east-1", Auto, "https://bbb.s3.us-isob-east-1.sc2s.sgov.gov/a/b?x=1"),
        ] {
            assert_eq!(uri(&endpoint, bucket, region, addressing), expected);
        }
        assert!(aws(false, false).place("bbb", "a b", Auto).is_err());
        assert!(aws(false, false).is_aws() && aws(false, false).is_tls());
    }

    #[test]
    fn others() {
        use Addressing::{Auto, Path, Virtual};
        for (endpoint, addressing, expected) in [
            ("http://localhost:9000", Auto, "http://localhost:9000/bucket/a/b?x=1"),
            ("http://localhost:9000/", Virtual, "http://bucket.localhost:9000/a/b?x=1"),
            ("https://[::1]:9000/s3/v1/", Auto, "https://[::1]:9000/s3/v1/bucket/a/b?x=1"),
            ("https://h/s3", Virtual, "https://bucket.h/s3/a/b?x=1"),
            ("https://s3.eu-west-1.amazonaws.com", Auto, "https://bucket.s3.eu-west-1.amazonaws.com/a/b?x=1"),
            ("https://s3.eu-west-1.amazonaws.com", Path, "https://s3.eu-west-1.amazonaws.com/bucket/a/b?x=1"),
        ] {
            let endpoint = Endpoint::parse(endpoint).unwrap();
            assert_eq!(uri(&endpoint, "bucket", "any", addressing), expected);
        }
        let place = Endpoint::parse("https://h").unwrap().place("bbb", "r", Virtual).unwrap();
        assert_eq!(place.uri(None, "").unwrap(), "https://bbb.h/");
        let place = Endpoint::parse("https://h").unwrap().place("bbb", "r", Path).unwrap();
        assert_eq!(place.uri(None, "list-type=2").unwrap(), "https://h/bbb?list-type=2");
        assert_eq!(place.to_string(), "https://h");
        assert!(!Endpoint::parse("https://amazonaws.com.example").unwrap().is_aws());
    }

    #[test]
    fn what_is_refused() {
        for endpoint in ["", "h", "h:9000", "/x", "ftp://h", "http://u:p@h", "http://h/?a=b", "http://", "http://a b"] {
            let error = Endpoint::parse(endpoint).unwrap_err().to_string();
            assert!(error.contains(&format!("`{endpoint}`")), "{error}");
        }
        let endpoint = Endpoint::parse("http://h").unwrap();
        for bucket in ["", ".", "..", "a/b", "a b", "ä", "a?b", "arn:aws:s3:::b", "a\nb"] {
            assert!(endpoint.place(bucket, "r", Addressing::Auto).is_err(), "{bucket}");
        }
        assert_eq!("Path".parse(), Ok(Addressing::Path));
        assert!("x".parse::<Addressing>().unwrap_err().to_string().contains("`x`"));
    }
}
