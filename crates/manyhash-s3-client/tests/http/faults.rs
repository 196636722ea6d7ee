//! Services that fail, are short of room, fall silent or lie.

use crate::setup::{Does, Fake, Got, answer, client, noise, refusal, retry};
use bytes::Bytes;
use futures_util::TryStreamExt;
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use manyhash_s3::time::{http_date, parse_amz_date};
use manyhash_s3_client::http::{Client, Completion, Content, Error, Proof};
use manyhash_s3_client::remote::{HeadRequest, ReadRequest, RemoteError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const EMPTY_LIST: &str = "<ListBucketResult><Name>bucket</Name><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys>\
                          <IsTruncated>false</IsTruncated></ListBucketResult>";

fn empty_list() -> Does {
    answer(200, &[], EMPTY_LIST)
}

/// A list is asked for, and how many requests that took.
async fn list(script: Vec<Does>) -> (Result<(), Error>, usize) {
    let fake = Fake::script(script).await;
    let client = client(&fake.endpoint(), |options| options.timeout = Some(Duration::from_millis(300))).await;
    let result = client.list_objects("", None).await.map(|_| ());
    let sent = client.counts();
    assert_eq!(sent.retries + 1, sent.total());
    (result, fake.got().len())
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    let half = format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{EMPTY_LIST}");
    for failure in [
        refusal(503, "SlowDown"),
        refusal(500, "InternalError"),
        refusal(200, "InternalError"),
        refusal(400, "RequestTimeout"),
        answer(502, &[], "<html>"),
        answer(504, &[], ""),
        answer(429, &[], ""),
        Does::Reset,
        Does::Silence,
        Does::Bytes(Vec::new()),
        Does::Bytes(b"HTTP/1.1 200".to_vec()),
        Does::Bytes(half.into_bytes()),
    ] {
        let (result, requests) = list(vec![failure.clone(), failure.clone(), empty_list()]).await;
        assert!(result.is_ok(), "{failure:?}: {result:?}");
        assert_eq!(requests, 3, "{failure:?}");
        let (result, requests) = list(vec![failure.clone()]).await;
        assert_eq!(requests, 3, "{failure:?}");
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("ListObjectsV2 s3://bucket: "), "{error}");
    }
}

#[tokio::test]
async fn what_stays_is_not() {
    for (failure, words) in [
        (refusal(403, "AccessDenied"), "AccessDenied: Words. (status 403, request R7)"),
        (refusal(404, "NoSuchBucket"), "check the bucket's name"),
        (refusal(501, "NotImplemented"), "lacks what the request needs"),
        (answer(200, &[], "<html></html>"), "check that the endpoint is one of S3"),
        (answer(200, &[], ""), "empty document"),
        (answer(301, &[], ""), "MovedPermanently"),
        (answer(200, &[], EMPTY_LIST.replace("false", "true")), "more objects"),
    ] {
        let (result, requests) = list(vec![failure, empty_list()]).await;
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(requests, 1, "{error}");
    }
}

#[tokio::test]
async fn retry_after_is_heeded() {
    let busy = answer(503, &[("retry-after", "1")], "");
    let began = Instant::now();
    let (result, _) = list(vec![busy, empty_list()]).await;
    result.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn nobody_there() {
    let error = client("http://127.0.0.1:1", |_| {}).await.list_objects("", None).await.unwrap_err();
    assert!(error.to_string().contains("no answer from http://127.0.0.1:1: "), "{error}");
}

#[tokio::test]
async fn a_budget_ends() {
    let fake = Fake::script(vec![refusal(500, "InternalError")]).await;
    let client = client(&fake.endpoint(), |options| options.retry = Some(retry(1000))).await;
    client.list_objects("", None).await.unwrap_err();
    assert_eq!(fake.got().len(), 101);
    client.list_objects("", None).await.unwrap_err();
    assert_eq!(fake.got().len(), 102, "there is nothing left for a second attempt");
}

#[tokio::test]
async fn fewer_at_once_when_there_is_no_room() {
    let fake = Fake::script(vec![refusal(503, "SlowDown"), empty_list()]).await;
    let client = client(&fake.endpoint(), |options| options.concurrency = Some(8)).await;
    assert_eq!(client.concurrency(), 8);
    client.list_objects("", None).await.unwrap();
    assert_eq!(client.concurrency(), 4);
    for _ in 0..40 {
        client.list_objects("", None).await.unwrap();
    }
    assert_eq!(client.concurrency(), 8);
}

fn region(got: &Got) -> String {
    got.header("authorization").unwrap().split('/').nth(2).unwrap().to_owned()
}

#[tokio::test]
async fn a_bucket_in_another_region() {
    let told = [("x-amz-bucket-region", "eu-north-1")];
    let malformed = "<Error><Code>AuthorizationHeaderMalformed</Code><Message>Words.</Message>\
                     <Region>eu-north-1</Region></Error>";
    for first in [answer(301, &told, ""), answer(400, &told, ""), answer(400, &[], malformed)] {
        let fake = Fake::start(move |_, got| if region(got) == "eu-north-1" { empty_list() } else { first.clone() });
        let fake = fake.await;
        let client = fake.client().await;
        client.list_objects("", None).await.unwrap();
        client.clone().list_objects("", None).await.unwrap();
        let regions: Vec<String> = fake.got().iter().map(region).collect();
        assert_eq!(regions, ["us-east-1", "eu-north-1", "eu-north-1"]);
        assert_eq!((client.region(), client.counts().retries), ("eu-north-1".to_owned(), 1));
    }
    // Those that are on their way when the region is learnt are put right too.
    let moved = answer(301, &told, "");
    let fake = Fake::start(move |_, got| if region(got) == "eu-north-1" { empty_list() } else { moved.clone() }).await;
    let client = fake.client().await;
    let mut lists = JoinSet::new();
    for _ in 0..50 {
        let client = client.clone();
        lists.spawn(async move { client.list_objects("", None).await.map(drop) });
    }
    assert!(lists.join_all().await.iter().all(Result::is_ok));
    // A service that sends back and forth is not followed.
    let regions = ["eu-north-1", "us-east-1"].map(|region| answer(301, &[("x-amz-bucket-region", region)], ""));
    let (result, requests) = list(regions.to_vec()).await;
    assert_eq!((result.is_err(), requests), (true, 2));
}

#[tokio::test]
async fn a_service_with_another_clock() {
    let there = Timestamp::now() - SignedDuration::from_hours(5);
    let date = http_date(there);
    for (code, method) in [("RequestTimeTooSkewed", "GET"), ("", "HEAD")] {
        let date = date.clone();
        let fake = Fake::start(move |_, got| {
            let sent = parse_amz_date(got.header("x-amz-date").unwrap()).unwrap();
            let body = format!("<Error><Code>{code}</Code><Message>Words.</Message></Error>");
            match sent.duration_since(there).abs() < SignedDuration::from_mins(15) {
                true if method == "HEAD" => answer(200, &[("content-length", "5")], ""),
                true => empty_list(),
                false => answer(403, &[("date", &date)], body),
            }
        });
        let fake = fake.await;
        let client = fake.client().await;
        for requests in [2, 3] {
            match method {
                "HEAD" => assert_eq!(client.head_object("k", HeadRequest::default()).await.unwrap().content_length, 5),
                _ => assert!(client.list_objects("", None).await.unwrap().objects.is_empty()),
            }
            assert_eq!(fake.got().len(), requests);
        }
    }
    let now = http_date(Timestamp::now());
    let fake = Fake::script(vec![answer(403, &[("date", &now)], "")]).await;
    let error = fake.client().await.head_object("k", HeadRequest::default()).await.unwrap_err();
    assert_eq!((fake.got().len(), &*error.refusal().unwrap().code), (1, "Forbidden"));
}

#[tokio::test]
async fn an_error_after_the_answer_was_begun() {
    let done = "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>k</Key><ETag>&quot;e&quot;</ETag>\
                </CompleteMultipartUploadResult>";
    let spaces = " ".repeat(1000);
    let late = |body: &str| answer(200, &[], format!("{}{spaces}{body}", manyhash_s3::xml::DECLARATION));
    let error = |code: &str| late(&format!("<Error><Code>{code}</Code><Message>Words.</Message></Error>"));
    let fake = Fake::script(vec![error("InternalError"), error("SlowDown"), late(done)]).await;
    let complete = async |client: &Client| client.complete_multipart_upload("k", "u", Completion::default()).await;
    assert_eq!(complete(&fake.client().await).await.unwrap().etag.as_str(), "e");
    assert_eq!(fake.got().len(), 3);
    let fake = Fake::script(vec![error("InvalidPart"), late(done)]).await;
    let refused = complete(&fake.client().await).await.unwrap_err();
    assert_eq!((refused.refusal().unwrap().status.as_u16(), fake.got().len()), (200, 1));
    assert!(refused.to_string().contains("InvalidPart"), "{refused}");
}

#[tokio::test]
async fn content_is_sent_again_whole() {
    let body = noise(300_000, 1);
    let fake = Fake::script(vec![refusal(503, "SlowDown"), Does::Reset, answer(200, &[("etag", "\"e\"")], "")]).await;
    let content = Content::from(body.clone());
    let written = fake.client().await.put_object("k", &content, Proof::None, &HeaderMap::new()).await.unwrap();
    assert_eq!(written.etag.unwrap().as_str(), "e");
    assert_eq!(fake.got().len(), 3);
    assert!(fake.got().iter().all(|got| got.body == body));
}

/// A service with one object that sends at most `piece` bytes of it to a connection.
async fn leaky(body: Vec<u8>, piece: usize, etag: impl Fn(usize) -> String + Send + Sync + 'static) -> Fake {
    Fake::start(move |index, got| {
        let range = got.header("range").map(|range| range.strip_prefix("bytes=").unwrap().split_once('-').unwrap());
        let range = range.map(|(first, last)| first.parse().unwrap()..last.parse::<usize>().unwrap() + 1);
        let etag = etag(index);
        if got.header("if-match").is_some_and(|wanted| wanted != etag) {
            return refusal(412, "PreconditionFailed");
        }
        let (status, told) = match &range {
            None => ("200 OK", String::new()),
            Some(range) => {
                let told = format!("content-range: bytes {}-{}/{}\r\n", range.start, range.end - 1, body.len());
                ("206 Partial Content", told)
            }
        };
        let range = range.unwrap_or(0..body.len());
        let head = format!("HTTP/1.1 {status}\r\netag: {etag}\r\n{told}content-length: {}\r\n\r\n", range.len());
        let end = range.end.min(range.start + piece);
        Does::Bytes([head.as_bytes(), &body[range.start..end]].concat())
    })
    .await
}

async fn read(client: &Client, request: ReadRequest) -> Result<Vec<u8>, RemoteError> {
    let pieces: Vec<Bytes> = client.get_object("k", request).await?.try_collect().await?;
    Ok(pieces.concat())
}

#[tokio::test]
async fn a_body_goes_on_where_it_broke() {
    let body = noise(100_000, 1);
    let fake = leaky(body.clone(), 9_000, |_| "\"e\"".to_owned()).await;
    let client = fake.client().await;
    assert!(read(&client, ReadRequest::default()).await.unwrap() == body);
    assert_eq!(fake.got().len(), 12);
    assert_eq!(fake.got()[1].header("range"), Some("bytes=9000-99999"));
    assert_eq!(fake.got()[1].header("if-match"), Some("\"e\""));
    let request = ReadRequest { range: Some(10_000..50_000), ..ReadRequest::default() };
    assert!(read(&client, request).await.unwrap() == body[10_000..50_000]);

    // Of an object that was replaced meanwhile, nothing is taken.
    let replaced = leaky(body.clone(), 9_000, |index| format!("\"{}\"", index / 3)).await;
    let error = read(&replaced.client().await, ReadRequest::default()).await.unwrap_err();
    assert_eq!(error.kind(), manyhash_s3_client::remote::RemoteErrorKind::Changed, "{error}");
    // A connection that brings nothing at all is no progress.
    let stuck = leaky(body, 0, |_| "\"e\"".to_owned()).await;
    let error = read(&stuck.client().await, ReadRequest::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("GetObject s3://bucket/k: "), "{error}");
    assert_eq!(stuck.got().len(), 3);
}

#[tokio::test]
async fn answers_that_lie_about_ranges() {
    let request = ReadRequest { range: Some(10..20), ..ReadRequest::default() };
    for (lie, words) in [
        (answer(200, &[], [0; 100]), "all bytes where a range was asked for"),
        (answer(206, &[("content-range", "bytes 0-9/100")], [0; 10]), "another range"),
        (answer(206, &[("content-range", "bytes 10-20/100")], [0; 11]), "another range"),
        (answer(206, &[("content-range", "bytes 10-19/100")], [0; 9]), "another range"),
        (answer(206, &[], [0; 10]), "another range"),
    ] {
        let fake = Fake::script(vec![lie]).await;
        let error = read(&fake.client().await, request.clone()).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let part = answer(206, &[("content-range", "bytes 10-14/15")], [7; 5]);
    assert_eq!(read(&Fake::script(vec![part]).await.client().await, request).await.unwrap(), [7; 5]);
}

#[tokio::test]
async fn requests_that_cannot_be_sent() {
    let fake = Fake::script(vec![empty_list()]).await;
    let client = fake.client().await;
    let error = client.head_object(&"k".repeat(70_000), HeadRequest::default()).await.unwrap_err().to_string();
    assert!(error.contains("too long"), "{error}");
    assert!(fake.got().is_empty());
    // A name cannot make a header or a line of a log.
    client.list_objects("a\r\nx-amz-acl: public", Some("t\n")).await.unwrap();
    assert!(fake.got()[0].target.contains("prefix=a%0D%0Ax-amz-acl%3A%20public&"));
    assert_eq!(fake.got()[0].header("x-amz-acl"), None);
}

#[tokio::test]
async fn a_slow_body_is_no_silence() {
    let silence = Duration::from_millis(400);
    let fake = Fake::script(vec![answer(200, &[], "")]).await;
    let client = client(&fake.endpoint(), |options| options.timeout = Some(silence)).await;
    let make = move || {
        let pieces = futures_util::stream::unfold(0, move |i| async move {
            tokio::time::sleep(silence / 4).await;
            (i < 10).then(|| (Ok(Bytes::from_static(&[1; 100_000])), i + 1))
        });
        Box::pin(pieces) as _
    };
    let content = Content::from_stream(1_000_000, make);
    client.put_object("k", &content, Proof::None, &HeaderMap::new()).await.unwrap();
    assert_eq!(fake.got().len(), 1);
}
