//! Whose signature requests have.
//!
//! AWS's own library looks for credentials, in the order of all its tools: the environment, the profile (keys, SSO, a role
//! to assume by those of another profile, a process), a web identity, a container's and an instance's role. What it
//! finds is kept until five minutes before it expires.

use super::error::{CredentialsError, causes};
use super::settings::Settings;
use super::transport::Transport;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::provider::ProvideCredentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_credential_types::provider::error::CredentialsError as ChainError;
use manyhash_s3::sign::Credentials;
use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Mutex;

/// Where credentials come from.
#[derive(Debug)]
pub(super) enum Source {
    Anonymous,
    Keys(Credentials),
    Chain(Box<Chain>),
}

/// AWS's chain, and what it last found.
pub(super) struct Chain {
    provider: SharedCredentialsProvider,
    /// Where it looks, for people.
    places: String,
    kept: RwLock<Option<Kept>>,
    /// Held by whoever asks the chain, so that many requests ask once.
    asking: Mutex<()>,
}

#[derive(Clone)]
struct Kept {
    credentials: Credentials,
    expiry: Option<SystemTime>,
    /// When the chain may be asked again, if it failed to renew them.
    again: Instant,
}

/// The time before they expire at which credentials are renewed.
const EARLY: Duration = Duration::from_secs(5 * 60);

/// The wait after a renewal failed, while the old ones can be used.
const PAUSE: Duration = Duration::from_secs(30);

impl Source {
    pub(super) async fn chain(
        settings: &Settings,
        profile: Option<&str>,
        region: &str,
        transport: &Transport,
    ) -> Source {
        let loader = aws_config::defaults(BehaviorVersion::latest());
        let mut loader = loader.region(Region::new(region.to_owned())).http_client(transport.clone());
        if let Some(profile) = profile {
            loader = loader.profile_name(profile);
        }
        // Never none: that would have to be asked for.
        let Some(provider) = loader.load().await.credentials_provider() else { return Source::Anonymous };
        let (profile, files) = (settings.profile(), settings.files());
        let places = format!(
            "the environment (AWS_ACCESS_KEY_ID), the profile `{profile}` of {files}, a web identity \
             (AWS_WEB_IDENTITY_TOKEN_FILE), a container's role, or an instance's role"
        );
        Source::Chain(Box::new(Chain { provider, places, kept: RwLock::new(None), asking: Mutex::new(()) }))
    }

    /// Returns the credentials of now, or `None` if requests are not signed.
    pub(super) async fn get(&self) -> Result<Option<Credentials>, CredentialsError> {
        match self {
            Source::Anonymous => Ok(None),
            Source::Keys(credentials) => Ok(Some(credentials.clone())),
            Source::Chain(chain) => chain.get().await.map(Some),
        }
    }

    /// Forgets what was found, if it is this key, which the service no longer takes. Returns whether there is a chance of
    /// another.
    pub(super) fn forget(&self, access_key: &str) -> bool {
        let Source::Chain(chain) = self else { return false };
        let mut kept = chain.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.take_if(|kept| kept.credentials.access_key() == access_key);
        true
    }

    pub(super) fn is_anonymous(&self) -> bool {
        matches!(self, Source::Anonymous)
    }
}

impl Kept {
    fn is_fresh(&self) -> bool {
        self.again > Instant::now() || self.expiry.is_none_or(|expiry| expiry > SystemTime::now() + EARLY)
    }

    fn is_valid(&self) -> bool {
        self.expiry.is_none_or(|expiry| expiry > SystemTime::now())
    }
}

impl Chain {
    fn kept(&self) -> Option<Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn get(&self) -> Result<Credentials, CredentialsError> {
        let fresh = |kept: &Kept| kept.is_valid() && kept.is_fresh();
        if let Some(kept) = self.kept().filter(fresh) {
            return Ok(kept.credentials);
        }
        let _asking = self.asking.lock().await;
        let old = self.kept();
        if let Some(kept) = old.clone().filter(fresh) {
            return Ok(kept.credentials);
        }
        let kept = match self.provider.provide_credentials().await {
            Ok(found) => {
                let credentials = Credentials::new(found.access_key_id(), found.secret_access_key());
                let credentials = match found.session_token() {
                    Some(token) => credentials.with_session_token(token),
                    None => credentials,
                };
                Kept { credentials, expiry: found.expiry(), again: Instant::now() }
            }
            Err(error) => match old.filter(Kept::is_valid) {
                Some(kept) => Kept { again: Instant::now() + PAUSE, ..kept },
                None => return Err(self.explain(&error)),
            },
        };
        let credentials = kept.credentials.clone();
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Ok(credentials)
    }

    fn explain(&self, error: &ChainError) -> CredentialsError {
        match error {
            ChainError::CredentialsNotLoaded(_) => CredentialsError::NotFound { places: self.places.clone() },
            _ => CredentialsError::Failed { reason: causes(error) },
        }
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("places", &self.places).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_credential_types::Credentials as Found;
    use aws_credential_types::provider::{self, future};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Gives credentials that are numbered, for a time.
    #[derive(Debug, Default)]
    struct Numbered {
        asked: AtomicU32,
        lifetime: Option<Duration>,
        fails_after: Option<u32>,
    }

    impl Numbered {
        async fn next(&self) -> provider::Result {
            let asked = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
            tokio::task::yield_now().await;
            if self.fails_after.is_some_and(|last| asked > last) {
                return Err(ChainError::provider_error("out of order"));
            }
            let expiry = self.lifetime.map(|lifetime| SystemTime::now() + lifetime);
            Ok(Found::new(format!("K{asked}"), "s", Some("t".to_owned()), expiry, "test"))
        }
    }

    impl ProvideCredentials for Numbered {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            future::ProvideCredentials::new(self.next())
        }
    }

    fn source(provider: Numbered) -> Arc<Source> {
        let (kept, asking) = (RwLock::new(None), Mutex::new(()));
        let provider = SharedCredentialsProvider::new(provider);
        Arc::new(Source::Chain(Box::new(Chain { provider, places: "here".to_owned(), kept, asking })))
    }

    async fn key(source: &Source) -> String {
        source.get().await.unwrap().unwrap().access_key().to_owned()
    }

    #[tokio::test]
    async fn many_requests_ask_once() {
        let source = source(Numbered { lifetime: Some(Duration::from_secs(3600)), ..Numbered::default() });
        let asking: Vec<_> = (0..20)
            .map(|_| {
                let source = source.clone();
                tokio::spawn(async move { key(&source).await })
            })
            .collect();
        for asked in asking {
            assert_eq!(asked.await.unwrap(), "K1");
        }
        assert!(source.forget("K1") && source.forget("K1"));
        assert_eq!(key(&source).await, "K2");
        assert!(source.forget("K1"));
        assert_eq!(key(&source).await, "K2", "another request forgot the old one, and this one is new");
        assert_eq!(source.get().await.unwrap().unwrap().session_token(), Some("t"));
    }

    #[tokio::test]
    async fn renewed_before_they_expire() {
        let source = source(Numbered { lifetime: Some(EARLY - Duration::from_secs(1)), ..Numbered::default() });
        assert_eq!((key(&source).await, key(&source).await), ("K1".to_owned(), "K2".to_owned()));
    }

    #[tokio::test]
    async fn old_ones_serve_while_they_are_valid() {
        let lifetime = Some(EARLY / 2);
        let renewing = source(Numbered { lifetime, fails_after: Some(1), ..Numbered::default() });
        assert_eq!((key(&renewing).await, key(&renewing).await), ("K1".to_owned(), "K1".to_owned()));
        assert_eq!(key(&renewing).await, "K1", "within the pause nobody is asked");

        let expired = source(Numbered { lifetime: Some(Duration::ZERO), fails_after: Some(1), ..Numbered::default() });
        assert_eq!(key(&expired).await, "K1");
        let error = expired.get().await.unwrap_err().to_string();
        assert!(error.contains("out of order"), "{error}");
    }
}
