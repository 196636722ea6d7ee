//! What a client signs with.

use std::fmt;
use zeroize::Zeroizing;

/// An access key and its secret, perhaps of a session.
///
/// The secrets are wiped from memory when this is dropped, and are not shown.
#[derive(Clone)]
pub struct Credentials {
    access_key: String,
    secret_key: Zeroizing<String>,
    session_token: Option<Zeroizing<String>>,
}

impl Credentials {
    /// Creates credentials that are not of a session.
    pub fn new(access_key: impl Into<String>, secret_key: impl Into<String>) -> Credentials {
        let secret_key = Zeroizing::new(secret_key.into());
        Credentials { access_key: access_key.into(), secret_key, session_token: None }
    }

    /// Sets the token of the session that the keys belong to.
    #[must_use]
    pub fn with_session_token(mut self, token: impl Into<String>) -> Credentials {
        self.session_token = Some(Zeroizing::new(token.into()));
        self
    }

    /// Returns the access key, the public half.
    pub fn access_key(&self) -> &str {
        &self.access_key
    }

    /// Returns the secret half.
    pub fn secret_key(&self) -> &str {
        &self.secret_key
    }

    /// Returns the token of the session, if there is one.
    pub fn session_token(&self) -> Option<&str> {
        self.session_token.as_ref().map(|token| token.as_str())
    }
}

/// Shows the access key only.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("access_key", &self.access_key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "a secret").with_session_token("a token");
        assert_eq!(format!("{credentials:?}"), "Credentials { access_key: \"AKIAIOSFODNN7EXAMPLE\", .. }");
        assert_eq!((credentials.secret_key(), credentials.session_token()), ("a secret", Some("a token")));
    }
}
