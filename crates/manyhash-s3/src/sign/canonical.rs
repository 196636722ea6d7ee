//! The canonical request: the one text that stands for a request, however it was written.
//!
//! ```text
//! GET                                    method
//! /photos/a%20b.jpg                      path
//! max-keys=2&prefix=J                    query, sorted
//! host:examplebucket.s3.amazonaws.com    signed headers, a line each
//! x-amz-date:20130524T000000Z
//!
//! host;x-amz-date                        their names
//! e3b0c442...                            digest of the body
//! ```
//!
//! S3 encodes a path once, unlike other services, and does not normalise it. Clients differ in which bytes of a path
//! they encode, and in whether they sign what they sent: a verifier tries the path as it was sent, then as S3 would have
//! encoded it. Both stand for the same decoded path, so neither signature is worth more than the other.

use http::{HeaderMap, Method, Uri, header};
use manyhash::Sha256;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_decode_str, percent_encode};
use std::borrow::Cow;

/// All but RFC 3986's unreserved characters (2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// Encodes a path, such as `/bucket/key`, the way that S3 signs it: all bytes but `A-Z a-z 0-9 - . _ ~ /`.
///
/// ```
/// assert_eq!(manyhash_s3::sign::encode_path("/photos/a b+ä.jpg"), "/photos/a%20b%2B%C3%A4.jpg");
/// ```
pub fn encode_path(path: impl AsRef<[u8]>) -> String {
    percent_encode(path.as_ref(), RESERVED_IN_PATH).to_string()
}

/// Encodes a name or value of a query the way that S3 signs it: all bytes but `A-Z a-z 0-9 - . _ ~`.
///
/// ```
/// assert_eq!(manyhash_s3::sign::encode_query("photos/2026 "), "photos%2F2026%20");
/// ```
pub fn encode_query(part: impl AsRef<[u8]>) -> String {
    percent_encode(part.as_ref(), RESERVED).to_string()
}

/// Splits a query into names and values, and decodes them as signatures do: `+` is a space, and a name without `=` has
/// an empty value.
///
/// ```
/// use manyhash_s3::sign::query_pairs;
///
/// let pairs: Vec<_> = query_pairs("uploads&prefix=a+b%2Fc").collect();
/// assert_eq!(pairs, [(b"uploads".into(), b"".into()), (b"prefix".into(), b"a b/c".into())]);
/// ```
pub fn query_pairs(query: &str) -> impl Iterator<Item = (Cow<'_, [u8]>, Cow<'_, [u8]>)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    })
}

fn decode(part: &str) -> Cow<'_, [u8]> {
    if !part.contains('+') {
        return percent_decode_str(part).into();
    }
    let part = part.replace('+', " ");
    Cow::Owned(percent_decode(part.as_bytes()).collect())
}

/// A canonical request, in the pieces that a digest is taken of.
pub(super) struct CanonicalRequest<'r> {
    method: &'r str,
    path: Cow<'r, str>,
    /// All that follows the path.
    rest: Vec<u8>,
}

impl<'r> CanonicalRequest<'r> {
    /// With the path as it is in the URI. `query` is canonical.
    pub(super) fn new(
        method: &'r Method,
        uri: &'r Uri,
        query: &str,
        headers: &HeaderMap,
        signed_headers: &[String],
        payload_hash: &str,
    ) -> Self {
        let path = Cow::Borrowed(if uri.path().is_empty() { "/" } else { uri.path() });
        let mut rest = Vec::with_capacity(1024);
        rest.extend([query.as_bytes(), b"\n"].concat());
        for name in signed_headers {
            rest.extend(name.as_bytes());
            rest.push(b':');
            push_values(&mut rest, name, uri, headers);
            rest.push(b'\n');
        }
        rest.push(b'\n');
        for (i, name) in signed_headers.iter().enumerate() {
            rest.extend((i > 0).then_some(b';'));
            rest.extend(name.as_bytes());
        }
        rest.push(b'\n');
        rest.extend(payload_hash.as_bytes());
        CanonicalRequest { method: method.as_str(), path, rest }
    }

    /// Encodes the path as S3 does. Returns whether that makes another one.
    pub(super) fn encode_path(&mut self) -> bool {
        let path = encode_path(Cow::from(percent_decode_str(&self.path)));
        let is_another = *self.path != path;
        self.path = Cow::Owned(path);
        is_another
    }

    pub(super) fn sha256(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        for piece in self.pieces() {
            hasher.update(piece);
        }
        hasher.finalize()
    }

    /// The text, for whom wonders why signatures differ.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.pieces().concat()).into_owned()
    }

    fn pieces(&self) -> [&[u8]; 5] {
        [self.method.as_bytes(), b"\n", self.path.as_bytes(), b"\n", &self.rest]
    }
}

/// The canonical query: encoded anew, sorted, without the first `X-Amz-Signature` if that is the signature's own.
pub(super) fn query(query: &str, without_signature: bool) -> String {
    let mut pairs: Vec<(String, String)> =
        query_pairs(query).map(|(name, value)| (encode_query(name), encode_query(value))).collect();
    if without_signature && let Some(i) = pairs.iter().position(|(name, _)| name == "X-Amz-Signature") {
        pairs.remove(i);
    }
    join(&mut pairs)
}

/// Sorts encoded names and values, and joins them.
pub(super) fn join(pairs: &mut [(String, String)]) -> String {
    pairs.sort_unstable();
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| [name, "=", value].concat()).collect();
    pairs.join("&")
}

/// The values of a header, separated by commas. Each run of white space is one space, and there is none at the ends.
fn push_values(to: &mut Vec<u8>, name: &str, uri: &Uri, headers: &HeaderMap) {
    let mut values = headers.get_all(name).iter().map(|value| value.as_bytes()).peekable();
    // HTTP/2 has the host in the URI.
    let authority = uri.authority().filter(|_| name == header::HOST.as_str() && values.peek().is_none());
    for (i, value) in values.chain(authority.map(|authority| authority.as_str().as_bytes())).enumerate() {
        to.extend((i > 0).then_some(b','));
        let words = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        for (i, word) in words.enumerate() {
            to.extend((i > 0).then_some(b' '));
            to.extend(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn queries() {
        for (sent, canonical) in [
            ("", ""),
            ("acl", "acl="),
            ("prefix=J&max-keys=2", "max-keys=2&prefix=J"),
            ("a=2&a=1&A=3&&", "A=3&a=1&a=2"),
            ("p=a+b&q=a%2Bb&r=a%20b", "p=a%20b&q=a%2Bb&r=a%20b"),
            ("k=/a/%c3%a4~*'", "k=%2Fa%2F%C3%A4~%2A%27"),
            ("k=%&l=%4&m=%zz&n=%ff", "k=%25&l=%254&m=%25zz&n=%FF"),
            ("k=a=b", "k=a%3Db"),
            ("a-b=1&a=2", "a=2&a-b=1"),
            ("k=ä", "k=%C3%A4"),
        ] {
            assert_eq!(query(sent, false), canonical, "{sent}");
        }
        let sent = "X-Amz-Signature=1&a=b&X-Amz-Signature=2";
        assert_eq!(query(sent, true), "X-Amz-Signature=2&a=b");
        assert_eq!(query(sent, false), "X-Amz-Signature=1&X-Amz-Signature=2&a=b");
    }

    fn text(uri: &'static str, headers: &[(&'static str, &'static [u8])], signed: &[&str]) -> String {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        let signed: Vec<String> = signed.iter().map(|name| name.to_string()).collect();
        let uri = Uri::from_static(uri);
        CanonicalRequest::new(&Method::GET, &uri, "", &map, &signed, "UNSIGNED-PAYLOAD").text()
    }

    #[test]
    fn headers() {
        let headers: &[(&str, &[u8])] = &[
            ("host", b"localhost:9000"),
            ("x-amz-meta-a", b"  two  words\t "),
            ("x-amz-meta-a", b"more"),
            ("x-amz-meta-b", b""),
            ("x-amz-meta-c", b"\xff"),
        ];
        let names = ["host", "x-amz-meta-a", "x-amz-meta-b", "x-amz-meta-c", "x-amz-meta-d"];
        assert_eq!(
            text("/", headers, &names),
            "GET\n/\n\nhost:localhost:9000\nx-amz-meta-a:two words,more\nx-amz-meta-b:\nx-amz-meta-c:\u{fffd}\n\
             x-amz-meta-d:\n\nhost;x-amz-meta-a;x-amz-meta-b;x-amz-meta-c;x-amz-meta-d\nUNSIGNED-PAYLOAD"
        );
        let canonical = "GET\n/k\n\nhost:h:1\n\nhost\nUNSIGNED-PAYLOAD";
        assert_eq!(text("http://h:1/k", &[], &["host"]), canonical);
        assert_eq!(text("http://other/k", &[("host", b"h:1")], &["host"]), canonical);
    }

    #[test]
    fn paths() {
        let encoded = |uri: &'static str| {
            let uri = Uri::from_static(uri);
            let mut request = CanonicalRequest::new(&Method::GET, &uri, "", &HeaderMap::new(), &[], "");
            assert_eq!(request.path, uri.path());
            request.encode_path().then(|| request.path.into_owned())
        };
        assert_eq!(encoded("/bucket/key-_.~%20"), None);
        assert_eq!(encoded("/a(b)%2f%c3%A4+%"), Some("/a%28b%29/%C3%A4%2B%25".to_owned()));
        // Neither dots nor slashes are S3's to tidy up.
        assert_eq!(encoded("//a/../b/./"), None);
    }
}
