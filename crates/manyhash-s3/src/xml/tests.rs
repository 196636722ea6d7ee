use super::*;
use crate::checksum::{Checksum, ChecksumAlgorithm, ChecksumType, ObjectChecksum, composite, digest};
use crate::etag::ETag;
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::select;

fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn request_to_complete_an_upload() {
    let request = CompleteMultipartUpload::from_request(
        br#"<?xml version="1.0" encoding="UTF-8"?>
        <CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
          <Part><PartNumber>1</PartNumber><ETag>&quot;a54357aff0632cce46d942af68356b38&quot;</ETag></Part>
          <!-- The second without quotes, and something new. -->
          <Part><ChecksumCRC32>yZRlqg==</ChecksumCRC32><ETag>0c78aef83f66abc1fa1e8477f296d394</ETag><New><Er/></New>
            <PartNumber> 2 </PartNumber></Part>
          <Part><PartNumber>-3</PartNumber><ETag><![CDATA["x"]]></ETag><ChecksumSHA1>x</ChecksumSHA1></Part>
          <Part><PartNumber>4</PartNumber><ETag/><ChecksumCRC32>a</ChecksumCRC32><ChecksumSHA1>b</ChecksumSHA1></Part>
        </CompleteMultipartUpload>
        "#,
    )
    .unwrap();
    let [first, second, third, fourth] = &request.parts[..] else { panic!("{request:?}") };
    assert_eq!((first.part_number, first.etag.as_str()), (1, "a54357aff0632cce46d942af68356b38"));
    assert_eq!(first.checksums.of_part(), Ok(None));
    assert_eq!((second.part_number, second.etag.as_str()), (2, "0c78aef83f66abc1fa1e8477f296d394"));
    let checksum = Checksum::parse(ChecksumAlgorithm::Crc32, "yZRlqg==").unwrap();
    assert_eq!(second.checksums.of_part(), Ok(Some(checksum)));
    assert_eq!((third.part_number, third.etag.as_str()), (-3, "x"));
    let error = third.checksums.of_part().unwrap_err();
    assert_eq!(error.message, "Invalid Base64 or multiple checksums present in request");
    assert_eq!(error.extra, [("ArgumentName", "Checksum".to_owned()), ("ArgumentValue", "x".to_owned())]);
    assert_eq!((fourth.part_number, fourth.etag.as_str()), (4, ""));
    assert_eq!(fourth.checksums.of_part().unwrap_err().extra[1].1, "CRC32:a;SHA1:b;");
}

#[test]
fn request_to_delete() {
    let body = b"<Delete><Object><Key> a\t</Key></Object><Quiet>true</Quiet><Object><Key>&lt;&#13;&#x1;</Key>\
        <VersionId>null</VersionId><Size>3</Size><LastModifiedTime>Sun, 06 Nov 1994 08:49:37 GMT</LastModifiedTime>\
        </Object></Delete>";
    let request = Delete::from_request(body).unwrap();
    assert!(request.quiet);
    // Every character of a key counts.
    assert_eq!(request.objects[0], ObjectIdentifier { key: " a\t".into(), ..Default::default() });
    assert_eq!(request.objects[1].key, "<\r\u{1}");
    assert_eq!(request.objects[1].version_id.as_deref(), Some("null"));
    assert_eq!(request.objects[1].size, Some(3));
    assert_eq!(request.objects[1].last_modified_time, Some(moment("1994-11-06T08:49:37Z")));
    assert_eq!(Delete::from_request(b"<Delete></Delete>"), Ok(Delete::default()));
    let many = |n| format!("<Delete>{}</Delete>", "<Object><Key>k</Key></Object>".repeat(n));
    assert_eq!(Delete::from_request(many(1000).as_bytes()).unwrap().objects.len(), 1000);
    for body in [&many(1001)[..], "<Delete><Object/></Delete>", "<Delete><Object><Key/></Object></Delete>", "", "x"] {
        assert_eq!(Delete::from_request(body.as_bytes()).unwrap_err().code, ErrorCode::MalformedXML);
    }
    let long = [b' '].repeat(MAX_REQUEST_BYTES + 1);
    assert_eq!(Delete::from_request(&long).unwrap_err().code, ErrorCode::MaxMessageLengthExceeded);
}

#[test]
fn request_to_create_a_bucket() {
    let region = |body: &str| CreateBucketConfiguration::from_request(body.as_bytes()).map(|it| it.location_constraint);
    assert_eq!(region(""), Ok(None));
    assert_eq!(region("<CreateBucketConfiguration/>"), Ok(None));
    let with = |more: &str| {
        region(&format!(
            "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint>{more}\
             </CreateBucketConfiguration>"
        ))
    };
    assert_eq!(with(""), Ok(Some("eu-west-1".into())));
    assert_eq!(with(" <Tags/>\n"), Ok(Some("eu-west-1".into())));
    for asked in [
        "<Tags><Tag><Key>k</Key><Value>v</Value></Tag></Tags>",
        "<Bucket><Type>Directory</Type></Bucket>",
        "<Location><Name>usw2-az1</Name><Type>AvailabilityZone</Type></Location>",
        "<Later>x</Later>",
    ] {
        assert_eq!(with(asked).unwrap_err().code, ErrorCode::NotImplemented, "{asked}");
    }
    assert_eq!(region(" ").unwrap_err().code, ErrorCode::MalformedXML);
    assert_eq!(region("<Delete/>").unwrap_err().code, ErrorCode::MalformedXML);
}

#[test]
fn answers() {
    let list = ListObjectsV2Result {
        name: "bucket".into(),
        prefix: "a b".into(),
        key_count: 2,
        max_keys: 1000,
        delimiter: Some("/".into()),
        encoding_type: Some(EncodingType::Url),
        contents: vec![ListedObject {
            key: "a b/\u{e9}+*\0".into(),
            last_modified: moment("2009-10-12T17:50:30.001Z"),
            etag: Some(ETag::new("fba9dede5f27731c9771645a39863328")),
            checksum_algorithm: vec![ChecksumAlgorithm::Crc64Nvme],
            checksum_type: Some(ChecksumType::FullObject),
            size: 434_234,
            storage_class: Some("STANDARD".into()),
            owner: None,
        }],
        common_prefixes: vec![CommonPrefix { prefix: "a b/c&/".into() }],
        ..Default::default()
    };
    let xml = list.to_xml();
    assert_eq!(
        xml,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult \
         xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bucket</Name><Prefix>a%20b</Prefix>\
         <KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys><Delimiter>/</Delimiter>\
         <IsTruncated>false</IsTruncated><EncodingType>url</EncodingType><Contents><Key>a%20b/%C3%A9%2B*%00</Key>\
         <LastModified>2009-10-12T17:50:30.001Z</LastModified>\
         <ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm>\
         <ChecksumType>FULL_OBJECT</ChecksumType><Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents>\
         <CommonPrefixes><Prefix>a%20b/c%26/</Prefix></CommonPrefixes></ListBucketResult>"
    );
    assert_eq!(ListObjectsV2Result::from_xml(xml.as_bytes()), Ok(list));
    let location = LocationConstraint { region: "eu-west-1".into() };
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<LocationConstraint \
         xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">eu-west-1</LocationConstraint>";
    assert_eq!(location.to_xml(), xml);
    assert_eq!(LocationConstraint::from_xml(xml.as_bytes()), Ok(location));
    let attributes = GetObjectAttributesResponse { etag: Some(ETag::new("e-2")), ..Default::default() }.to_xml();
    assert!(attributes.contains("<ETag>e-2</ETag></GetObjectAttributesResponse>"), "{attributes}");
    assert_eq!(
        VersioningConfiguration::default().to_xml(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VersioningConfiguration \
         xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"></VersioningConfiguration>"
    );
    assert!(xml.starts_with(DECLARATION));
}

#[test]
fn answers_of_others() {
    // The encoding named after the names, a plus for a space, a checksum of a later server, a prefixed namespace.
    let list = ListObjectsResult::from_xml(
        b"  <?xml version='1.0'?>\r\n<s3:ListBucketResult xmlns:s3='x'><Contents><Key>a+b%2Bc</Key><Size>1</Size>\
        <LastModified>2009-10-12T17:50:30Z</LastModified><ChecksumAlgorithm>CRC99</ChecksumAlgorithm>\
        <ChecksumAlgorithm>SHA1</ChecksumAlgorithm><ChecksumType>NEW</ChecksumType></Contents>\
        <EncodingType>url</EncodingType><MaxKeys>1</MaxKeys></s3:ListBucketResult>\n",
    )
    .unwrap();
    assert_eq!(list.contents[0].key, "a b+c");
    assert_eq!(list.contents[0].checksum_algorithm, [ChecksumAlgorithm::Sha1]);
    assert_eq!((list.contents[0].checksum_type, &list.contents[0].etag), (None, &None));
    assert!(!list.is_truncated);
    // As MinIO writes its name.
    let attributes = GetObjectAttributesResponse::from_xml(
        b"<getObjectAttributesResponse><ETag>e</ETag><ObjectSize>3</ObjectSize></getObjectAttributesResponse>",
    );
    assert_eq!(attributes.unwrap().object_size, Some(3));
    // An error where a result was expected.
    let body = crate::S3Error::no_such_key("k<").to_xml("/b/k<", "1", Some("2"));
    let error = CompleteMultipartUploadResult::from_xml(body.as_bytes()).unwrap_err();
    let root = XmlError::Root { expected: "CompleteMultipartUploadResult", found: "Error".into() };
    assert_eq!((&error, error.to_string().as_str()), (&root, "`Error`, not `CompleteMultipartUploadResult`"));
    let error = ErrorResponse::from_xml(body.as_bytes()).unwrap();
    assert_eq!(error.error_code(), Some(ErrorCode::NoSuchKey));
    assert_eq!((error.resource.as_deref(), error.host_id.as_deref()), (Some("/b/k<"), Some("2")));
    assert_eq!(ErrorResponse::default().error_code(), None);
}

#[test]
fn what_is_refused() {
    let read = |xml: &str| Delete::from_xml(xml.as_bytes()).unwrap_err();
    assert_eq!(read(""), XmlError::Empty);
    assert_eq!(read("<!-- nothing -->"), XmlError::Empty);
    assert_eq!(read("text"), XmlError::Text);
    assert_eq!(read("<Delete>text</Delete>"), XmlError::Text);
    assert_eq!(read("<Delete/>text"), XmlError::Text);
    assert_eq!(read("<Delete/><Delete/>"), XmlError::Unexpected { name: "Delete".into() });
    assert_eq!(read("<Delete><Quiet>true</Quiet><Quiet>true</Quiet></Delete>"), XmlError::Twice { element: "Quiet" });
    assert_eq!(read("<Delete><Quiet>yes</Quiet></Delete>"), XmlError::Value { element: "Quiet" });
    assert_eq!(read("<Delete><Quiet><a/></Quiet></Delete>"), XmlError::Unexpected { name: "a".into() });
    let key = |key: &str| read(&format!("<Delete><Object><Key>{key}</Key></Object></Delete>"));
    assert_eq!(key("&e;"), XmlError::Entity);
    assert!(matches!(key("&#0;"), XmlError::NotWellFormed(_)));
    assert!(matches!(key("&#xd800;"), XmlError::NotWellFormed(_)));
    assert!(matches!(key("& "), XmlError::NotWellFormed(_)));
    assert!(matches!(read("<Delete><Object>"), XmlError::Unfinished));
    assert!(matches!(read("<Delete></Object>"), XmlError::NotWellFormed(_)));
    assert!(matches!(read("<Delete"), XmlError::NotWellFormed(_)));
    assert_eq!(Delete::from_xml(b"<Delete>\xff</Delete>"), Err(XmlError::NotUtf8));
    let part = CompleteMultipartUpload::from_xml(
        b"<CompleteMultipartUpload><Part><ETag>x</ETag></Part></CompleteMultipartUpload>",
    );
    assert_eq!(part, Err(XmlError::Missing { element: "PartNumber" }));
    // Names that are no percent-encoded UTF-8.
    let list = b"<ListBucketResult><MaxKeys>1</MaxKeys><Prefix>%ff</Prefix><EncodingType>url</EncodingType>\
        </ListBucketResult>";
    assert_eq!(ListObjectsResult::from_xml(list), Err(XmlError::Value { element: "Prefix" }));
}

#[test]
fn no_bomb_and_no_depth_does_harm() {
    let bomb = "<!DOCTYPE d [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><Delete><Object><Key>&b;</Key>\
        </Object></Delete>";
    assert_eq!(Delete::from_xml(bomb.as_bytes()), Err(XmlError::Doctype));
    let external = "<!DOCTYPE Delete SYSTEM \"file:///etc/passwd\"><Delete/>";
    assert_eq!(Delete::from_xml(external.as_bytes()), Err(XmlError::Doctype));
    let inside = "<Delete><!DOCTYPE d></Delete>";
    assert!(Delete::from_xml(inside.as_bytes()).is_err());
    for depth in [60, 70, 1_000_000] {
        let deep = format!("<Delete>{}{}</Delete>", "<a>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(Delete::from_xml(deep.as_bytes()).is_ok(), depth < 64, "{depth}");
    }
    let open = "<Delete>".repeat(1_000_000);
    assert_eq!(Delete::from_xml(open.as_bytes()), Err(XmlError::TooDeep));
}

/// Any text that XML can hold at all: all but the character 0.
fn text() -> impl Strategy<Value = String> {
    let special = select("\r\n\t <>&\"'%+;]\u{1}\u{fffe}\u{85}/".chars().collect::<Vec<char>>());
    let character = prop_oneof![
        any::<char>().prop_filter("no NUL", |c| *c != '\0'),
        special,
        "[a-z]".prop_map(|s| { s.chars().next().unwrap_or('a') })
    ];
    prop::collection::vec(character, 0..12).prop_map(String::from_iter)
}

fn etag() -> impl Strategy<Value = ETag> {
    "[!#-~]{1,40}".prop_map(ETag::new)
}

fn time() -> impl Strategy<Value = Timestamp> {
    (0i64..253_402_207_200_000).prop_map(|millis| Timestamp::from_millisecond(millis).unwrap())
}

fn checksum() -> impl Strategy<Value = Checksum> {
    (select(&ChecksumAlgorithm::ALL), any::<[u8; 4]>()).prop_map(|(algorithm, body)| digest(algorithm, &body))
}

fn checksums() -> impl Strategy<Value = ChecksumElements> {
    prop_oneof![
        Just(ChecksumElements::default()),
        checksum().prop_map(ChecksumElements::from),
        checksum().prop_map(|part| match composite(part.algorithm(), &[part, part]) {
            Ok(object) => ChecksumElements::from(object),
            Err(_) => ChecksumElements::from(ObjectChecksum::of_body(part)),
        }),
    ]
}

fn owner() -> impl Strategy<Value = Option<Owner>> {
    prop::option::of((text(), prop::option::of(text())).prop_map(|(id, display_name)| Owner { id, display_name }))
}

fn algorithm() -> impl Strategy<Value = Option<ChecksumAlgorithm>> {
    prop::option::of(select(&ChecksumAlgorithm::ALL))
}

fn kind() -> impl Strategy<Value = Option<ChecksumType>> {
    prop::option::of(select(vec![ChecksumType::Composite, ChecksumType::FullObject]))
}

fn encoding() -> impl Strategy<Value = Option<EncodingType>> {
    prop::option::of(Just(EncodingType::Url))
}

proptest! {
    #[test]
    fn lists_of_objects(
        (name, prefix, other, key) in (text(), text(), prop::option::of(text()), text()),
        (last_modified, etag, algorithm, checksum_type) in (time(), prop::option::of(etag()), algorithm(), kind()),
        (size, owner, encoding_type, is_truncated, number) in
            (any::<u64>(), owner(), encoding(), any::<bool>(), any::<u32>()),
    ) {
        let object = ListedObject {
            key: key.clone(),
            last_modified,
            etag,
            checksum_algorithm: Vec::from_iter(algorithm),
            checksum_type,
            size,
            storage_class: other.clone(),
            owner,
        };
        let contents = vec![object.clone(), object];
        let common_prefixes = vec![CommonPrefix { prefix: key.clone() }];
        let list = ListObjectsResult {
            name: name.clone(),
            prefix: prefix.clone(),
            marker: key.clone(),
            next_marker: other.clone(),
            max_keys: number,
            delimiter: other.clone(),
            is_truncated,
            encoding_type,
            contents: contents.clone(),
            common_prefixes: common_prefixes.clone(),
        };
        prop_assert_eq!(ListObjectsResult::from_xml(list.to_xml().as_bytes()), Ok(list));
        let list = ListObjectsV2Result {
            name,
            prefix,
            start_after: other.clone(),
            continuation_token: other.clone(),
            next_continuation_token: other.clone(),
            key_count: number,
            max_keys: number,
            delimiter: other,
            is_truncated,
            encoding_type,
            contents,
            common_prefixes,
        };
        prop_assert_eq!(ListObjectsV2Result::from_xml(list.to_xml().as_bytes()), Ok(list));
    }

    #[test]
    fn uploads_in_parts(
        (bucket, key, upload_id, other) in (text(), text(), text(), prop::option::of(text())),
        (etag, checksums, checksum_type, checksum_algorithm) in (etag(), checksums(), kind(), algorithm()),
        (moment, owner, size, number, signed) in (time(), owner(), any::<u64>(), any::<u32>(), any::<i32>()),
        (encoding_type, is_truncated) in (encoding(), any::<bool>()),
    ) {
        let document =
            InitiateMultipartUploadResult { bucket: bucket.clone(), key: key.clone(), upload_id: upload_id.clone() };
        prop_assert_eq!(InitiateMultipartUploadResult::from_xml(document.to_xml().as_bytes()), Ok(document));
        let part = CompletedPart { part_number: signed, etag: etag.clone(), checksums: checksums.clone() };
        let document = CompleteMultipartUpload { parts: vec![part.clone(), part] };
        prop_assert_eq!(CompleteMultipartUpload::from_request(document.to_xml().as_bytes()), Ok(document));
        let document = CompleteMultipartUploadResult {
            location: other.clone(),
            bucket: bucket.clone(),
            key: key.clone(),
            etag: etag.clone(),
            checksum_type,
            checksums: checksums.clone(),
        };
        prop_assert_eq!(CompleteMultipartUploadResult::from_xml(document.to_xml().as_bytes()), Ok(document));
        let document = CopyPartResult { last_modified: moment, etag: etag.clone(), checksums: checksums.clone() };
        prop_assert_eq!(CopyPartResult::from_xml(document.to_xml().as_bytes()), Ok(document));
        let part = ListedPart { part_number: number, last_modified: moment, etag, size, checksums };
        let document = ListPartsResult {
            bucket: bucket.clone(),
            key: key.clone(),
            upload_id: upload_id.clone(),
            initiator: owner.clone(),
            owner: owner.clone(),
            storage_class: other.clone(),
            part_number_marker: number,
            next_part_number_marker: Some(number),
            max_parts: number,
            is_truncated,
            checksum_algorithm,
            checksum_type,
            parts: vec![part.clone(), part],
        };
        prop_assert_eq!(ListPartsResult::from_xml(document.to_xml().as_bytes()), Ok(document));
        let upload = ListedUpload {
            key: key.clone(),
            upload_id: upload_id.clone(),
            initiator: owner.clone(),
            owner,
            storage_class: other.clone(),
            initiated: moment,
            checksum_algorithm,
            checksum_type,
        };
        let document = ListMultipartUploadsResult {
            bucket,
            key_marker: key.clone(),
            upload_id_marker: upload_id,
            next_key_marker: other.clone(),
            next_upload_id_marker: other.clone(),
            prefix: other.clone(),
            delimiter: other,
            encoding_type,
            max_uploads: number,
            is_truncated,
            uploads: vec![upload],
            common_prefixes: vec![CommonPrefix { prefix: key }],
        };
        prop_assert_eq!(ListMultipartUploadsResult::from_xml(document.to_xml().as_bytes()), Ok(document));
    }

    #[test]
    fn objects(
        (key, other, code, message) in (text(), prop::option::of(text()), text(), text()),
        (etag, checksums, checksum_type) in (etag(), checksums(), kind()),
        (moment, size, number, flag) in (time(), any::<u64>(), any::<u32>(), any::<bool>()),
    ) {
        let document = CopyObjectResult {
            last_modified: moment,
            etag: etag.clone(),
            checksum_type,
            checksums: checksums.clone(),
        };
        prop_assert_eq!(CopyObjectResult::from_xml(document.to_xml().as_bytes()), Ok(document));
        let object = ObjectIdentifier {
            key: format!("{key}x"),
            version_id: other.clone(),
            etag: Some(etag.clone()),
            last_modified_time: Some(moment),
            size: Some(size),
        };
        let document = Delete { objects: vec![object], quiet: flag };
        prop_assert_eq!(Delete::from_request(document.to_xml().as_bytes()), Ok(document));
        let document = DeleteResult {
            deleted: vec![Deleted { key: key.clone(), version_id: other.clone() }],
            errors: vec![DeleteError { key, version_id: other.clone(), code, message }],
        };
        prop_assert_eq!(DeleteResult::from_xml(document.to_xml().as_bytes()), Ok(document));
        let part = AttributePart { part_number: number, size, checksums: checksums.clone() };
        let parts = AttributeParts {
            parts_count: Some(number),
            part_number_marker: Some(number),
            next_part_number_marker: None,
            max_parts: Some(number),
            is_truncated: flag,
            parts: vec![part.clone(), part],
        };
        let document = GetObjectAttributesResponse {
            etag: Some(etag),
            checksum: Some(AttributeChecksum { checksum_type, checksums }),
            object_parts: Some(parts),
            storage_class: other,
            object_size: Some(size),
        };
        prop_assert_eq!(GetObjectAttributesResponse::from_xml(document.to_xml().as_bytes()), Ok(document));
    }

    #[test]
    fn buckets_and_errors(
        (name, other, owner, creation_date) in (text(), prop::option::of(text()), owner(), time()),
        (resource, request_id) in (text(), text()),
    ) {
        let bucket = Bucket { name: name.clone(), creation_date, region: other.clone() };
        let document = ListAllMyBucketsResult {
            owner,
            buckets: Buckets { buckets: vec![bucket.clone(), bucket] },
            continuation_token: other.clone(),
            prefix: other.clone(),
        };
        prop_assert_eq!(ListAllMyBucketsResult::from_xml(document.to_xml().as_bytes()), Ok(document));
        let document = LocationConstraint { region: name.clone() };
        prop_assert_eq!(LocationConstraint::from_xml(document.to_xml().as_bytes()), Ok(document));
        let document = CreateBucketConfiguration { location_constraint: other.clone() };
        prop_assert_eq!(CreateBucketConfiguration::from_request(document.to_xml().as_bytes()), Ok(document));
        let document = VersioningConfiguration { status: other };
        prop_assert_eq!(VersioningConfiguration::from_xml(document.to_xml().as_bytes()), Ok(document));
        let error = crate::S3Error::new(ErrorCode::InvalidArgument).with_message(name.clone()).with("Key", &resource);
        let read = ErrorResponse::from_xml(error.to_xml(&resource, &request_id, None).as_bytes()).unwrap();
        prop_assert_eq!(read.error_code(), Some(ErrorCode::InvalidArgument));
        prop_assert_eq!((read.message, read.resource, read.request_id), (name, Some(resource), Some(request_id)));
    }

    /// With url encoding even the character 0 comes through.
    #[test]
    fn any_name_comes_through(key: String, zeros in prop::collection::vec(any::<char>(), 0..9)) {
        let prefix = CommonPrefix { prefix: key + &String::from_iter(zeros) + "\0" };
        let list = ListObjectsResult {
            encoding_type: Some(EncodingType::Url),
            common_prefixes: vec![prefix],
            ..Default::default()
        };
        prop_assert_eq!(ListObjectsResult::from_xml(list.to_xml().as_bytes()), Ok(list));
    }

    #[test]
    fn hostile_documents(document in hostile()) {
        read_all(&document);
    }
}

/// Documents that are nearly right, and some that are not at all.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = select(vec![
        "<",
        ">",
        "</",
        "/>",
        "<Part>",
        "</Part>",
        "<Object>",
        "</Object>",
        "<Key>",
        "</Key>",
        "<ETag>",
        "</ETag>",
        "<Delete>",
        "</Delete>",
        "<CompleteMultipartUpload>",
        "</CompleteMultipartUpload>",
        "<PartNumber>",
        "1",
        "</PartNumber>",
        "<ListBucketResult>",
        "</ListBucketResult>",
        "<EncodingType>url</EncodingType>",
        "%",
        "%ff",
        "<Contents>",
        "</Contents>",
        "<LastModified>2009-10-12T17:50:30Z</LastModified>",
        "<Size>",
        "</Size>",
        "&",
        ";",
        "&amp;",
        "&#",
        "&#x0;",
        "&#1114112;",
        "&x;",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "--",
        "<?",
        "?>",
        "<!DOCTYPE",
        "[",
        "]",
        "<!ENTITY",
        "\"",
        "'",
        "=",
        " ",
        "\0",
        ":",
        "<:>",
        "<a:b:c x='y'>",
        "\u{feff}",
        "a",
        "\u{10ffff}",
        "<ChecksumCRC32>",
        "</ChecksumCRC32>",
        "<?xml version=\"1.1\" encoding=\"UTF-16\"?>",
        "-2147483649",
    ]);
    let pieces = prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes());
    let damaged = (any::<prop::sample::Index>(), any::<u8>(), 0usize..3).prop_map(|(index, byte, how)| {
        let mut document =
            b"<?xml version=\"1.0\"?><CompleteMultipartUpload xmlns=\"x\"><Part><PartNumber>1</PartNumber>\
            <ETag>&quot;a&quot;</ETag><ChecksumSHA1>x</ChecksumSHA1></Part></CompleteMultipartUpload>"
                .to_vec();
        let at = index.index(document.len());
        match how {
            0 => document[at] = byte,
            1 => _ = document.remove(at),
            _ => document.truncate(at),
        }
        document
    });
    prop_oneof![3 => pieces, 2 => damaged, 1 => prop::collection::vec(any::<u8>(), 0..60)]
}

/// None may panic.
fn read_all(xml: &[u8]) {
    let _ = (CompleteMultipartUpload::from_request(xml), Delete::from_request(xml));
    let _ = (CreateBucketConfiguration::from_request(xml), ErrorResponse::from_xml(xml));
    let _ = (ListObjectsResult::from_xml(xml), ListObjectsV2Result::from_xml(xml), ListPartsResult::from_xml(xml));
    let _ = (ListMultipartUploadsResult::from_xml(xml), GetObjectAttributesResponse::from_xml(xml));
    let _ = (CopyObjectResult::from_xml(xml), CopyPartResult::from_xml(xml), DeleteResult::from_xml(xml));
    let _ = (ListAllMyBucketsResult::from_xml(xml), LocationConstraint::from_xml(xml));
    let _ = (CompleteMultipartUploadResult::from_xml(xml), InitiateMultipartUploadResult::from_xml(xml));
}
