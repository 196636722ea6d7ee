//! Requests as botocore 1.43.11 signed them, with keys, queries and header values of all kinds.

use super::*;
use http::HeaderName;

#[test]
fn requests_of_botocore() {
    let requests = include_str!("botocore.txt").split("\n\n");
    let mut presigned = 0;
    for text in requests.clone() {
        let mut lines = text.lines();
        let (method, uri) = lines.next().unwrap().split_once(' ').unwrap();
        let mut request = request(method.parse().unwrap(), uri, &[]);
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            request.headers.append(name.parse::<HeaderName>().unwrap(), value.trim().parse().unwrap());
        }
        let verdict = verify(&request);
        assert!(verdict.is_ok(), "{text}: {verdict:?}");
        assert_eq!(verify_at(&request, "another", now()).unwrap_err().code, ErrorCode::SignatureDoesNotMatch);
        presigned += usize::from(!request.headers.contains_key("authorization"));
    }
    assert!((1..requests.count()).contains(&presigned));
}
