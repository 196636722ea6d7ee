//! The service that buckets are at, and who asks it.

use manyhash_s3_client::http::{Addressing, Client, Config, ConfigError, Identity, Options};
use manysum::figures::count;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The options of tools that send requests.
#[derive(clap::Args)]
pub(super) struct ConnectionArguments {
    /// URL of the service [default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url, or AWS]
    #[arg(long, value_name = "URL")]
    endpoint_url: Option<String>,

    /// Region to sign requests for [default: AWS_REGION, the profile's region, or us-east-1]
    #[arg(long, value_name = "REGION")]
    region: Option<String>,

    /// Profile in AWS's files of settings and credentials [default: AWS_PROFILE, or default]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Do not sign requests
    #[arg(long)]
    no_sign_request: bool,

    /// Where the bucket's name stands in requests: auto, path or virtual [default: the profile's addressing_style]
    #[arg(long, value_name = "STYLE")]
    addressing_style: Option<Addressing>,

    /// PEM file of certificates to trust besides the system's [default: AWS_CA_BUNDLE]
    #[arg(long, value_name = "FILE")]
    ca_bundle: Option<PathBuf>,

    /// Send at most N requests at once
    #[arg(long, value_name = "N", default_value = "64")]
    requests: NonZeroUsize,
}

/// The service, once a bucket at it was named.
#[derive(Default)]
pub(super) struct Connection {
    client: OnceLock<Client>,
}

impl ConnectionArguments {
    /// The client of a bucket. All of one connection share requests at once, credentials and what is counted.
    pub(super) async fn bucket(&self, connection: &Connection, bucket: &str) -> Result<Arc<Client>, ConfigError> {
        if let Some(client) = connection.client.get() {
            return client.with_bucket(bucket).map(Arc::new);
        }
        let client = Client::new(Config::load(self.options()).await?, bucket)?;
        Ok(Arc::new(connection.client.get_or_init(|| client).clone()))
    }

    fn options(&self) -> Options {
        let mut options = Options::default();
        options.endpoint = self.endpoint_url.clone();
        options.region = self.region.clone();
        options.profile = self.profile.clone();
        options.addressing = self.addressing_style;
        options.ca_bundle = self.ca_bundle.clone();
        options.concurrency = Some(self.requests.get());
        if self.no_sign_request {
            options.identity = Identity::Anonymous;
        }
        options
    }

    /// What the service is named by, for what is kept of a comparison.
    pub(super) fn service(&self) -> String {
        format!("{:?} {:?} {:?}", self.endpoint_url, self.region, self.profile)
    }
}

impl Connection {
    /// A client of any bucket, if one was named.
    pub(super) fn client(&self) -> Option<&Client> {
        self.client.get()
    }
}

/// How many requests were sent: `12 requests: 10 ListObjectsV2, 2 HeadObject`.
pub(super) fn requests(client: &Client) -> String {
    let counts = client.counts();
    let kinds: Vec<String> = counts.requests.iter().map(|(operation, count)| format!("{count} {operation}")).collect();
    let all = usize::try_from(counts.total()).unwrap_or(usize::MAX);
    match kinds.is_empty() {
        true => count(all, "request"),
        false => format!("{}: {}", count(all, "request"), kinds.join(", ")),
    }
}
