//! Credentials from every place of AWS's chain: each test runs a child with an environment and files of its own, and looks at
//! whose signature its request has.

use crate::setup::{Does, Fake, Got, answer};
use jiff::{SignedDuration, Timestamp};
use manyhash_s3_client::http::{Client, Config, Options};
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

/// What the child does. It is a test, since a child needs a program, and does nothing where nobody asks for it.
#[tokio::test]
async fn child() {
    let Ok(asked) = std::env::var("CHILD") else { return };
    let mut options = Options::default();
    options.profile = std::env::var("CHILD_PROFILE").ok();
    let config = match Config::load(options).await {
        Ok(config) => config,
        Err(error) => return println!("\n<{error}>"),
    };
    if asked == "region" {
        return println!("\n<{}>", config.region());
    }
    match Client::new(config, "bucket").unwrap().list_objects("", None).await {
        Ok(_) => println!("\n<done>"),
        Err(error) => println!("\n<{error}>"),
    }
}

/// A home, and services that give credentials.
struct Place {
    home: TempDir,
    fake: Fake,
}

/// What came of a child: what it said, and who signed its request to S3.
struct Outcome {
    said: String,
    signed: Vec<(String, Option<String>)>,
}

fn in_an_hour() -> String {
    let moment = Timestamp::now() + SignedDuration::from_hours(1);
    format!("{moment:.0}")
}

fn json_keys(key: &str) -> String {
    let expiry = in_an_hour();
    format!(
        r#"{{"Code":"Success","Type":"AWS-HMAC","LastUpdated":"2026-01-01T00:00:00Z","AccessKeyId":"{key}",
            "SecretAccessKey":"s","Token":"T-{key}","Expiration":"{expiry}"}}"#
    )
}

fn of_sts(action: &str, key: &str) -> Does {
    let expiry = in_an_hour();
    answer(
        200,
        &[("content-type", "text/xml")],
        format!(
            r#"<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result><AssumedRoleUser>
            <AssumedRoleId>A:s</AssumedRoleId><Arn>arn:aws:sts::123456789012:assumed-role/r/s</Arn></AssumedRoleUser>
            <Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>
            <SessionToken>T-{key}</SessionToken><Expiration>{expiry}</Expiration></Credentials></{action}Result>
            </{action}Response>"#
        ),
    )
}

/// Every service in one.
fn service(_: usize, got: &Got) -> Does {
    let json = |text: String| answer(200, &[("content-type", "application/json")], text);
    let (path, _) = got.target.split_once('?').unwrap_or((&got.target, ""));
    match (&*got.method, path) {
        ("PUT", "/latest/api/token") => answer(200, &[("x-aws-ec2-metadata-token-ttl-seconds", "21600")], "imds-token"),
        // The second version of the service: nothing without a token.
        ("GET", path)
            if path.starts_with("/latest/") && got.header("x-aws-ec2-metadata-token") != Some("imds-token") =>
        {
            answer(401, &[], "")
        }
        ("GET", "/latest/meta-data/placement/region") => answer(200, &[], "eu-central-2"),
        ("GET", path) if path.starts_with("/latest/meta-data/iam/security-credentials-extended") => {
            answer(404, &[], "")
        }
        ("GET", "/latest/meta-data/iam/security-credentials/") => answer(200, &[], "role"),
        ("GET", "/latest/meta-data/iam/security-credentials/role") => json(json_keys("INSTANCE")),
        ("GET", "/container") if got.header("authorization") == Some("container-token") => json(json_keys("CONTAINER")),
        ("GET", "/federation/credentials") if got.header("x-amz-sso_bearer_token") == Some("sso-token") => {
            let expiry = (Timestamp::now() + SignedDuration::from_hours(1)).as_millisecond();
            json(format!(
                r#"{{"roleCredentials":{{"accessKeyId":"SSO","secretAccessKey":"s","sessionToken":"T-SSO",
                    "expiration":{expiry}}}}}"#
            ))
        }
        ("POST", "/") if got.text().contains("Action=AssumeRoleWithWebIdentity") => {
            assert!(got.text().contains("WebIdentityToken=web-token"));
            of_sts("AssumeRoleWithWebIdentity", "WEB")
        }
        ("POST", "/") if got.text().contains("Action=AssumeRole") => {
            let by = got.header("authorization").unwrap().contains("Credential=SOURCE/");
            of_sts("AssumeRole", if by { "ROLE" } else { "CHAINED" })
        }
        ("GET", "/bucket") => answer(
            200,
            &[],
            "<ListBucketResult><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>\
             </ListBucketResult>",
        ),
        _ => answer(404, &[], ""),
    }
}

impl Place {
    async fn new(config: &str) -> Place {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".aws/sso/cache")).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        Place { home, fake: Fake::start(service).await }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    /// Runs a child that asks S3 for a list.
    async fn list(&self, env: &[(&str, &str)]) -> Outcome {
        let url = self.fake.endpoint();
        let services = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_SSO"];
        let env: Vec<_> = services.into_iter().map(|name| (name, &*url)).chain(env.iter().copied()).collect();
        let said = self.run("list", &env).await;
        let to_s3 = self.fake.got().into_iter().filter(|got| got.target.starts_with("/bucket"));
        let signed = to_s3.map(|got| {
            let authorization = got.header("authorization").unwrap();
            let (_, rest) = authorization.split_once("Credential=").unwrap();
            (rest.split('/').next().unwrap().to_owned(), got.header("x-amz-security-token").map(str::to_owned))
        });
        Outcome { said, signed: signed.collect() }
    }

    async fn run(&self, asked: &str, env: &[(&str, &str)]) -> String {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "chain::child", "--nocapture"]).env_clear();
        command.env("HOME", self.path()).env("CHILD", asked).env("PATH", "/usr/bin:/bin");
        if !env.iter().any(|(name, _)| *name == "AWS_EC2_METADATA_SERVICE_ENDPOINT") {
            command.env("AWS_EC2_METADATA_DISABLED", "true");
        }
        let output = command.envs(env.iter().copied()).output().await.unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, said) = text.split_once("\n<").unwrap_or_else(|| panic!("{text}"));
        said.split_once(">\n").unwrap().0.to_owned()
    }

    /// Fails unless the request was signed by this key.
    async fn expect(&self, env: &[(&str, &str)], key: &str) {
        let outcome = self.list(env).await;
        assert_eq!(outcome.said, "done");
        let (signer, token) = outcome.signed.first().unwrap();
        assert_eq!(signer, key);
        if !matches!(key, "ENV" | "FILE") {
            assert_eq!(token.as_deref(), Some(&*format!("T-{key}")));
        }
    }
}

#[tokio::test]
async fn environment() {
    let place = Place::new("").await;
    place.expect(&[("AWS_ACCESS_KEY_ID", "ENV"), ("AWS_SECRET_ACCESS_KEY", "s")], "ENV").await;
}

#[tokio::test]
async fn a_profile_with_keys() {
    let place = Place::new("[profile work]\naws_access_key_id = FILE\naws_secret_access_key = s\n").await;
    place.expect(&[("AWS_PROFILE", "work")], "FILE").await;
    let outcome = place.list(&[("CHILD_PROFILE", "play")]).await;
    assert!(outcome.said.contains("there is no profile `play`"), "{}", outcome.said);
    let credentials = "[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n";
    std::fs::write(place.path().join(".aws/credentials"), credentials).unwrap();
    place.expect(&[], "FILE").await;
}

#[tokio::test]
async fn a_process() {
    let place = Place::new("").await;
    let script = place.path().join("keys.sh");
    let keys = format!(
        r#"{{"Version":1,"AccessKeyId":"PROCESS","SecretAccessKey":"s","SessionToken":"T-PROCESS","Expiration":"{}"}}"#,
        in_an_hour()
    );
    std::fs::write(&script, format!("echo '{keys}'\n")).unwrap();
    let config = format!("[default]\ncredential_process = sh {}\n", script.display());
    std::fs::write(place.path().join(".aws/config"), config).unwrap();
    place.expect(&[], "PROCESS").await;
}

#[tokio::test]
async fn roles_by_profiles() {
    let place = Place::new(
        "[profile base]\naws_access_key_id = SOURCE\naws_secret_access_key = s\n\
         [profile role]\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = base\n\
         [profile chained]\nrole_arn = arn:aws:iam::123456789012:role/q\nsource_profile = role\n",
    )
    .await;
    place.expect(&[("AWS_PROFILE", "role")], "ROLE").await;
    let place = Place { fake: Fake::start(service).await, ..place };
    place.expect(&[("CHILD_PROFILE", "chained")], "CHAINED").await;
}

#[tokio::test]
async fn a_web_identity() {
    let place = Place::new("").await;
    let file = place.path().join("token");
    std::fs::write(&file, "web-token").unwrap();
    let env = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file.to_str().unwrap()),
        ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/r"),
        ("AWS_REGION", "eu-west-1"),
    ];
    place.expect(&env, "WEB").await;
}

#[tokio::test]
async fn sso() {
    let place = Place::new(
        "[default]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = r\n\
         [sso-session corp]\nsso_region = us-east-1\nsso_start_url = https://corp.example/start\n",
    )
    .await;
    let token = place
        .path()
        .join(".aws/sso/cache")
        .join(format!("{}.json", manyhash::digest(manyhash::Algorithm::Sha1, "corp").to_hex()));
    let json = format!(
        r#"{{"startUrl":"https://corp.example/start","region":"us-east-1","accessToken":"sso-token","expiresAt":"{}"}}"#,
        in_an_hour()
    );
    std::fs::write(token, json).unwrap();
    place.expect(&[], "SSO").await;
}

#[tokio::test]
async fn a_container() {
    let place = Place::new("").await;
    let url = format!("{}/container", place.fake.endpoint());
    let env = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*url), ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-token")];
    place.expect(&env, "CONTAINER").await;
}

#[tokio::test]
async fn an_instance() {
    let place = Place::new("").await;
    let url = place.fake.endpoint();
    place.expect(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url)], "INSTANCE").await;
    // The region too, if nothing else tells it and the service is AWS.
    let env = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*url)];
    assert_eq!(place.run("region", &env).await, "eu-central-2");
    assert_eq!(place.run("region", &[env[0], ("AWS_DEFAULT_REGION", "eu-west-3")]).await, "eu-west-3");
    assert_eq!(place.run("region", &[]).await, "us-east-1");
}

#[tokio::test]
async fn none_at_all() {
    let outcome = Place::new("").await.list(&[]).await;
    for words in
        ["ListObjectsV2 s3://bucket: no credentials found in", "AWS_ACCESS_KEY_ID", "`default`", "~/.aws/config"]
    {
        assert!(outcome.said.contains(words), "{}", outcome.said);
    }
    assert!(outcome.signed.is_empty());
}
