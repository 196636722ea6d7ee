//! AWS's settings: the environment, and the profiles in `~/.aws/config` and `~/.aws/credentials`.
//!
//! The files are read by AWS's own parser, so that they mean here what they mean everywhere.

use super::config::ConfigError;
use super::error::causes;
use aws_config::profile::{self, ProfileSet};
use aws_runtime::env_config::EnvConfigValue;
use aws_types::os_shim_internal::{Env, Fs};
use std::borrow::Cow;
use std::str::FromStr;

/// The settings of one profile, and those of the environment, which come first.
#[derive(Debug)]
pub(super) struct Settings {
    env: Env,
    profiles: ProfileSet,
}

impl Settings {
    /// Reads the settings of the profile of this name, or of the one that the environment names.
    pub(super) async fn load(env: Env, fs: &Fs, profile: Option<&str>) -> Result<Settings, ConfigError> {
        let chosen = profile.map(|name| Cow::Owned(name.to_owned()));
        let profiles = profile::load(fs, &env, &Default::default(), chosen).await;
        let profiles = profiles.map_err(|error| ConfigError::Profiles { reason: causes(&error) })?;
        let settings = Settings { env, profiles };
        let is_named = profile.is_some() || settings.variable("AWS_PROFILE").is_some();
        if is_named && settings.profiles.get_profile(settings.profile()).is_none() {
            let (profile, files) = (settings.profile().to_owned(), settings.files());
            return Err(ConfigError::NoProfile { profile, files });
        }
        Ok(settings)
    }

    /// The name of the profile.
    pub(super) fn profile(&self) -> &str {
        self.profiles.selected_profile()
    }

    /// The files that profiles are in.
    pub(super) fn files(&self) -> String {
        let file = |variable, default: &str| self.variable(variable).unwrap_or_else(|| default.to_owned());
        let config = file("AWS_CONFIG_FILE", "~/.aws/config");
        [config, file("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")].join(" and ")
    }

    /// A variable of the environment that is not empty.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).ok().filter(|value| !value.trim().is_empty())
    }

    /// A setting, which may be one of S3 alone: `NAME_S3`, `NAME`, the section `services`, the profile.
    pub(super) fn of_s3(&self, variable: &str, key: &str) -> Option<String> {
        let value = EnvConfigValue::new().env(variable).profile(key).service_id("s3");
        let (value, _) = value.load(&self.env, Some(&self.profiles))?;
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A setting: a variable of the environment, or a key of the profile.
    pub(super) fn get(&self, variable: &str, key: &str) -> Option<String> {
        self.variable(variable).or_else(|| self.key(key))
    }

    /// A setting that is not text.
    pub(super) fn read<T: FromStr>(
        &self,
        variable: &str,
        key: &str,
        allowed: &'static str,
    ) -> Result<Option<T>, ConfigError> {
        let name = if self.variable(variable).is_some() { variable } else { key };
        let Some(value) = self.get(variable, key) else { return Ok(None) };
        let read = value.to_ascii_lowercase().parse();
        read.map(Some).map_err(|_| ConfigError::Setting { name: name.to_owned(), value, allowed })
    }

    /// A key of the profile.
    pub(super) fn key(&self, key: &str) -> Option<String> {
        self.profiles.get(key).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A key of the block `s3` in the profile, which is lines below the key `s3`.
    pub(super) fn key_of_block(&self, key: &str) -> Option<String> {
        self.profiles.get("s3")?.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            name.trim().eq_ignore_ascii_case(key).then(|| value.trim().to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[default]\nregion = eu-west-1\n\n[profile work]\nregion = eu-north-1\nservices = local\ns3 =\n  \
        max_concurrent_requests = 20\n  addressing_style = path\nuse_fips_endpoint = TRUE\n\n\
        [services local]\ns3 =\n  endpoint_url = http://localhost:1\n";

    async fn load(env: &[(&str, &str)], profile: Option<&str>) -> Result<Settings, ConfigError> {
        let env: Vec<_> = [("HOME", "/home")].into_iter().chain(env.iter().copied()).collect();
        let fs = Fs::from_slice(&[("/home/.aws/config", CONFIG), ("/broken", "[profile a\nx")]);
        Settings::load(Env::from_slice(&env), &fs, profile).await
    }

    #[tokio::test]
    async fn environment_then_profile() {
        let settings = load(&[("AWS_REGION", "us-west-2"), ("AWS_MAX_ATTEMPTS", " ")], None).await.unwrap();
        assert_eq!(settings.get("AWS_REGION", "region").as_deref(), Some("us-west-2"));
        assert_eq!(settings.key("region").as_deref(), Some("eu-west-1"));
        assert_eq!(settings.read::<u32>("AWS_MAX_ATTEMPTS", "max_attempts", "").unwrap(), None);
        assert_eq!((settings.profile(), settings.key_of_block("addressing_style")), ("default", None));

        let settings = load(&[("AWS_PROFILE", "work")], None).await.unwrap();
        assert_eq!(settings.get("AWS_REGION", "region").as_deref(), Some("eu-north-1"));
        assert_eq!(settings.key_of_block("Addressing_Style").as_deref(), Some("path"));
        assert_eq!(settings.read("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", "").unwrap(), Some(true));
        let endpoint = |settings: &Settings| settings.of_s3("AWS_ENDPOINT_URL", "endpoint_url");
        assert_eq!(endpoint(&settings).as_deref(), Some("http://localhost:1"));
        let settings = load(&[("AWS_ENDPOINT_URL", "http://localhost:2")], Some("work")).await.unwrap();
        assert_eq!(endpoint(&settings).as_deref(), Some("http://localhost:2"));
        let env = [("AWS_ENDPOINT_URL", "http://localhost:2"), ("AWS_ENDPOINT_URL_S3", "http://localhost:3")];
        assert_eq!(endpoint(&load(&env, None).await.unwrap()).as_deref(), Some("http://localhost:3"));
    }

    #[tokio::test]
    async fn what_is_wrong_is_named() {
        let error = load(&[], Some("none")).await.unwrap_err().to_string();
        assert!(error.contains("`none`") && error.contains("~/.aws/config"), "{error}");
        let error = load(&[("AWS_PROFILE", "none"), ("AWS_CONFIG_FILE", "/c")], None).await.unwrap_err().to_string();
        assert!(error.contains("`none`") && error.contains("/c and"), "{error}");
        let error = load(&[("AWS_CONFIG_FILE", "/broken")], None).await.unwrap_err().to_string();
        assert!(error.contains("/broken"), "{error}");
        let settings = load(&[("AWS_USE_FIPS_ENDPOINT", "maybe")], None).await.unwrap();
        let error = settings.read::<bool>("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", "true or false").unwrap_err();
        assert_eq!(error.to_string(), "AWS_USE_FIPS_ENDPOINT is `maybe`: use true or false");
    }
}
