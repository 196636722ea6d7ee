//! What a client is made with: what the caller says, over AWS's settings.

use super::credentials::Source;
use super::endpoint::{Addressing, Endpoint, UnknownAddressingError};
use super::retry::RetryPolicy;
use super::settings::Settings;
use super::transport::{Timeouts, Transport};
use aws_types::os_shim_internal::{Env, Fs};
use manyhash_s3::sign::Credentials;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// What the caller says. Whatever it leaves out is taken from AWS's settings: the environment, then the profile.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The profile, such as `default`.
    pub profile: Option<String>,
    /// The URL of the service. AWS, if no setting has one either.
    pub endpoint: Option<String>,
    /// The region that requests are signed for.
    pub region: Option<String>,
    /// Where the bucket's name stands in requests.
    pub addressing: Option<Addressing>,
    /// Who signs.
    pub identity: Identity,
    /// A file of certificates, as PEM, that are trusted besides those of the system.
    pub ca_bundle: Option<PathBuf>,
    /// The most requests at once, 64 unless it is given.
    pub concurrency: Option<usize>,
    /// How failures are tried again.
    pub retry: Option<RetryPolicy>,
    /// How long the service may be silent, 60 seconds unless it is given: in connecting, receiving, and answering.
    pub timeout: Option<Duration>,
}

/// Who signs requests.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Identity {
    /// Whoever AWS's chain finds: the environment, the profile (keys, SSO, roles to assume, a process), a web identity, a
    /// container's or an instance's role.
    #[default]
    Chain,
    /// The holder of these keys.
    Keys(Credentials),
    /// Nobody: requests are not signed.
    Anonymous,
}

/// When checksums are sent that a request does not need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum ChecksumCalculation {
    /// Whenever the operation has one (`when_supported`).
    #[default]
    WhenSupported,
    /// Only where the operation needs one (`when_required`), for services that do not know them.
    WhenRequired,
}

impl FromStr for ChecksumCalculation {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "when_supported" => Ok(ChecksumCalculation::WhenSupported),
            "when_required" => Ok(ChecksumCalculation::WhenRequired),
            _ => Err(()),
        }
    }
}

/// A service and who asks it: all that [`Client::new`](super::Client::new) needs but the bucket.
#[derive(Debug)]
pub struct Config {
    pub(super) endpoint: Endpoint,
    pub(super) region: String,
    pub(super) addressing: Addressing,
    pub(super) source: Source,
    pub(super) checksums: ChecksumCalculation,
    pub(super) concurrency: usize,
    pub(super) retry: RetryPolicy,
    pub(super) transport: Transport,
}

/// Requests at once, unless the caller says otherwise.
const CONCURRENCY: usize = 64;

/// The longest silence, unless the caller says otherwise, and the longest wait for a connection.
const SILENCE: Duration = Duration::from_secs(60);
const CONNECT: Duration = Duration::from_secs(10);

/// The longest wait for an instance's metadata service to tell the region. Outside EC2 nobody answers.
const METADATA: Duration = Duration::from_secs(2);

/// The region where none is said: that in which AWS tells of every bucket where it is, and the one that other services
/// take.
const REGION: &str = "us-east-1";

impl Config {
    /// Reads AWS's settings where `options` leave something out.
    ///
    /// No request is sent, but one for the region to the instance's metadata service, if nothing else tells it and the
    /// service is AWS.
    ///
    /// # Errors
    /// Returns an error if a setting has a value that cannot be used, or if its file cannot be read.
    pub async fn load(options: Options) -> Result<Config, ConfigError> {
        let settings = Settings::load(Env::real(), &Fs::real(), options.profile.as_deref()).await?;
        Config::resolve(options, &settings).await
    }

    async fn resolve(options: Options, settings: &Settings) -> Result<Config, ConfigError> {
        const FLAG: &str = "true or false";
        let is_ignored =
            settings.read("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls", FLAG)?;
        let configured = || settings.of_s3("AWS_ENDPOINT_URL", "endpoint_url").filter(|_| is_ignored != Some(true));
        let fips = settings.read("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", FLAG)?.unwrap_or(false);
        let dual_stack = settings.read("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint", FLAG)?;
        let of_block = settings.key_of_block("use_dualstack_endpoint").map(|value| value.eq_ignore_ascii_case("true"));
        let dual_stack = dual_stack.or(of_block).unwrap_or(false);
        let endpoint = match options.endpoint.or_else(configured) {
            Some(url) => Endpoint::parse(&url)?,
            None => Endpoint::Aws { fips, dual_stack },
        };
        let addressing = match options.addressing {
            Some(addressing) => addressing,
            None => settings.key_of_block("addressing_style").map_or(Ok(Addressing::Auto), |style| style.parse())?,
        };
        let allowed = "when_supported or when_required";
        let (variable, key) = ("AWS_REQUEST_CHECKSUM_CALCULATION", "request_checksum_calculation");
        let checksums = settings.read(variable, key, allowed)?.unwrap_or_default();
        let attempts = settings.read("AWS_MAX_ATTEMPTS", "max_attempts", "a number from 1")?;
        let mut retry = options.retry.unwrap_or_default();
        if options.retry.is_none()
            && let Some(attempts) = attempts
        {
            retry.attempts = attempts;
        }
        let ca_bundle = options.ca_bundle.or_else(|| settings.get("AWS_CA_BUNDLE", "ca_bundle").map(PathBuf::from));
        let timeouts = Timeouts { connect: CONNECT, silence: options.timeout.unwrap_or(SILENCE) };
        let transport = Transport::new(ca_bundle.as_deref(), timeouts, endpoint.is_tls())?;

        let region = options.region.or_else(|| {
            let variable = settings.variable("AWS_REGION").or_else(|| settings.variable("AWS_DEFAULT_REGION"));
            variable.or_else(|| settings.key("region"))
        });
        let region = match region {
            Some(region) => region,
            None if endpoint.is_aws() && matches!(options.identity, Identity::Chain) => {
                let told = tokio::time::timeout(METADATA, transport.instance_region()).await;
                told.ok().flatten().unwrap_or_else(|| REGION.to_owned())
            }
            None => REGION.to_owned(),
        };
        let source = match options.identity {
            Identity::Anonymous => Source::Anonymous,
            Identity::Keys(credentials) => Source::Keys(credentials),
            Identity::Chain => {
                let profile = options.profile.as_deref();
                Source::chain(settings, profile, &region, &transport).await
            }
        };
        let concurrency = options.concurrency.unwrap_or(CONCURRENCY);
        Ok(Config { endpoint, region, addressing, source, checksums, concurrency, retry, transport })
    }

    /// Returns the region that requests are signed for, unless a bucket turns out to be in another.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// Returns whether the service is AWS itself.
    pub fn is_aws(&self) -> bool {
        self.endpoint.is_aws()
    }

    /// Returns whether requests go over TLS.
    pub fn is_tls(&self) -> bool {
        self.endpoint.is_tls()
    }

    /// Returns when checksums are sent that a request does not need (`request_checksum_calculation`).
    pub fn checksum_calculation(&self) -> ChecksumCalculation {
        self.checksums
    }
}

/// Why there can be no client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// AWS's files cannot be read or understood.
    #[error("cannot read AWS's settings: {reason}")]
    Profiles {
        /// The file, and what is wrong with it.
        reason: String,
    },
    /// There is no such profile.
    #[error("there is no profile `{profile}` in {files}")]
    NoProfile {
        /// The profile.
        profile: String,
        /// Where it was looked for.
        files: String,
    },
    /// A setting has a value that it cannot have.
    #[error("{name} is `{value}`: use {allowed}")]
    Setting {
        /// The variable or key.
        name: String,
        /// Its value.
        value: String,
        /// The values that it can have.
        allowed: &'static str,
    },
    /// A setting has a style that there is not.
    #[error("addressing_style in the block `s3` of the profile: {0}")]
    Addressing(#[from] UnknownAddressingError),
    /// The endpoint is of no use.
    #[error("the endpoint `{url}` {reason}")]
    Endpoint {
        /// The endpoint.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The region is of no use.
    #[error("the region `{region}` cannot be part of a host: use a name such as us-east-1")]
    Region {
        /// The region.
        region: String,
    },
    /// No bucket can have this name.
    #[error("the bucket's name `{bucket}` {reason}")]
    Bucket {
        /// The name.
        bucket: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file of certificates is of no use.
    #[error("{}: {reason}", path.display())]
    CaBundle {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no certificate to trust.
    #[error("no certificates are installed on this system ({reason}): name a file of them in AWS_CA_BUNDLE")]
    NoCertificates {
        /// What was found instead.
        reason: String,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolve(env: &[(&str, &str)], config: &str, options: Options) -> Result<Config, ConfigError> {
        let env: Vec<_> =
            [("HOME", "/home"), ("AWS_EC2_METADATA_DISABLED", "true")].into_iter().chain(env.iter().copied()).collect();
        let fs = Fs::from_slice(&[("/home/.aws/config", config)]);
        let settings = Settings::load(Env::from_slice(&env), &fs, options.profile.as_deref()).await?;
        Config::resolve(Options { identity: Identity::Anonymous, ..options }, &settings).await
    }

    #[tokio::test]
    async fn defaults() {
        let config = resolve(&[], "", Options::default()).await.unwrap();
        assert_eq!(config.endpoint, Endpoint::Aws { fips: false, dual_stack: false });
        assert_eq!((config.region(), config.addressing), ("us-east-1", Addressing::Auto));
        assert_eq!(config.checksum_calculation(), ChecksumCalculation::WhenSupported);
        assert_eq!((config.concurrency, config.retry), (64, RetryPolicy::default()));
        assert!(config.is_aws() && config.is_tls());
    }

    #[tokio::test]
    async fn settings_and_what_comes_over_them() {
        let file = "[default]\nregion = eu-west-1\nendpoint_url = http://localhost:1\nmax_attempts = 7\n\
                    use_dualstack_endpoint = true\nrequest_checksum_calculation = WHEN_REQUIRED\ns3 =\n  \
                    addressing_style = virtual\n";
        let config = resolve(&[], file, Options::default()).await.unwrap();
        assert_eq!(config.endpoint, Endpoint::parse("http://localhost:1").unwrap());
        assert_eq!((config.region(), config.addressing), ("eu-west-1", Addressing::Virtual));
        assert_eq!(config.checksum_calculation(), ChecksumCalculation::WhenRequired);
        assert_eq!(config.retry.attempts, 7);
        assert!(!config.is_aws() && !config.is_tls());

        let env =
            [("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"), ("AWS_DEFAULT_REGION", "r1"), ("AWS_MAX_ATTEMPTS", "2")];
        let config = resolve(&env, file, Options::default()).await.unwrap();
        assert_eq!(config.endpoint, Endpoint::Aws { fips: false, dual_stack: true });
        assert_eq!((config.region(), config.retry.attempts), ("r1", 2));
        let env = [env[0], env[1], ("AWS_REGION", "r2"), ("AWS_USE_FIPS_ENDPOINT", "true")];
        let options = Options {
            region: Some("r3".to_owned()),
            endpoint: Some("https://h".to_owned()),
            addressing: Some(Addressing::Path),
            ..Options::default()
        };
        assert_eq!(resolve(&env, file, Options::default()).await.unwrap().region(), "r2");
        let config = resolve(&env, file, options).await.unwrap();
        assert_eq!((config.region(), config.addressing), ("r3", Addressing::Path));
        assert_eq!(config.endpoint, Endpoint::parse("https://h").unwrap());
    }

    #[tokio::test]
    async fn what_is_wrong_is_named() {
        for (file, words) in [
            ("[default]\ns3 =\n  addressing_style = x\n", "unknown addressing style `x`"),
            ("[default]\nmax_attempts = none\n", "max_attempts is `none`"),
            ("[default]\nendpoint_url = localhost\n", "`localhost`"),
            ("[default]\nca_bundle = /nowhere/ca.pem\n", "/nowhere/ca.pem"),
            ("[default]\nuse_fips_endpoint = yes\n", "use true or false"),
            ("[default]\nrequest_checksum_calculation = never\n", "when_supported or when_required"),
        ] {
            let error = resolve(&[], file, Options::default()).await.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
