//! What the command line, the environment and a file can say of a server, each in the same words.

use serde::Deserialize;
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Everything that can be set. What is not set stays as it is by default.
#[derive(clap::Args, Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Settings {
    /// Serve S3 at this address [default: 127.0.0.1:9000]
    #[arg(long, value_name = "ADDRESS:PORT", env = "MANYHASH_LISTEN")]
    pub(super) listen: Option<SocketAddr>,

    /// Serve /metrics, /healthz and a live page at this address, without keys; `none` for nowhere [default: 127.0.0.1:9001]
    #[arg(long, value_name = "ADDRESS:PORT", env = "MANYHASH_ADMIN")]
    pub(super) admin: Option<Admin>,

    /// Read access keys from a TOML file: [[key]] with access, secret and optionally rights
    #[arg(long, value_name = "FILE", env = "MANYHASH_KEYS")]
    pub(super) keys: Option<PathBuf>,

    /// Serve over TLS with the certificate chain in this PEM file
    #[arg(long, value_name = "FILE", env = "MANYHASH_TLS")]
    pub(super) tls: Option<PathBuf>,

    /// Read the private key from this PEM file [default: the file of --tls]
    #[arg(long, value_name = "FILE", env = "MANYHASH_TLS_KEY")]
    pub(super) tls_key: Option<PathBuf>,

    /// Accept only requests that are signed for this region [default: any]
    #[arg(long, value_name = "NAME", env = "MANYHASH_REGION")]
    pub(super) region: Option<String>,

    /// Keep at most N connections open; then a new one closes the one that has been idle longest [default: 10000, or as
    /// many as the limit of open files lets it hold]
    #[arg(long, value_name = "N", env = "MANYHASH_CONNECTIONS")]
    pub(super) connections: Option<NonZeroUsize>,

    /// Keep at most this many bytes of uploads in memory, such as 512MiB [default: 192MiB]
    #[arg(long, value_name = "SIZE", env = "MANYHASH_MEMORY")]
    pub(super) memory: Option<Size>,

    /// Refuse uploads while fewer bytes than this are free on the disk [default: 256MiB]
    #[arg(long, value_name = "SIZE", env = "MANYHASH_RESERVE")]
    pub(super) reserve: Option<Size>,

    /// Answer at most N requests per second for each access key [default: no limit]
    #[arg(long, value_name = "N", env = "MANYHASH_RATE")]
    pub(super) rate: Option<NonZeroU32>,

    /// Abort multipart uploads that are not completed after N days [default: 7]
    #[arg(long, value_name = "N", env = "MANYHASH_UPLOAD_DAYS")]
    pub(super) upload_days: Option<NonZeroU32>,

    /// Store equal content as often as it is uploaded
    #[arg(long, env = "MANYHASH_NO_DEDUPE")]
    #[serde(default)]
    pub(super) no_dedupe: bool,
}

impl Settings {
    /// Reads a file of settings.
    pub(super) fn read(path: &Path) -> Result<Self, SettingsError> {
        let read = |source| SettingsError::Read { path: path.to_path_buf(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        let parse = |source| SettingsError::Parse { path: path.to_path_buf(), source: Box::new(source) };
        let mut settings: Settings = toml::from_str(&text).map_err(parse)?;
        // A file names others as they lie from it.
        let directory = path.parent().unwrap_or(Path::new(""));
        for file in [&mut settings.keys, &mut settings.tls, &mut settings.tls_key].into_iter().flatten() {
            *file = directory.join(&*file);
        }
        Ok(settings)
    }

    /// These settings, and what others say where these say nothing.
    pub(super) fn or(self, others: Settings) -> Settings {
        Settings {
            listen: self.listen.or(others.listen),
            admin: self.admin.or(others.admin),
            keys: self.keys.or(others.keys),
            tls: self.tls.or(others.tls),
            tls_key: self.tls_key.or(others.tls_key),
            region: self.region.or(others.region),
            connections: self.connections.or(others.connections),
            memory: self.memory.or(others.memory),
            reserve: self.reserve.or(others.reserve),
            rate: self.rate.or(others.rate),
            upload_days: self.upload_days.or(others.upload_days),
            no_dedupe: self.no_dedupe || others.no_dedupe,
        }
    }
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettingsError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    Parse { path: PathBuf, source: Box<toml::de::Error> },
    #[error("--tls-key needs --tls FILE, which names the certificate")]
    KeyWithoutCertificate,
}

/// An address, or `none`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Admin(pub(super) Option<SocketAddr>);

impl FromStr for Admin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Admin(None)),
            address => match address.parse() {
                Ok(address) => Ok(Admin(Some(address))),
                Err(_) => Err("expected ADDRESS:PORT, such as 127.0.0.1:9001, or none".to_owned()),
            },
        }
    }
}

impl TryFrom<String> for Admin {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Size(usize);

impl Size {
    pub(super) fn bytes(self) -> usize {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    /// A number with a unit or without: `1048576`, `512MiB`, `2G`. Units are powers of 1024.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let shift = match unit.trim() {
            "" | "B" => Some(0),
            "K" | "KiB" => Some(10),
            "M" | "MiB" => Some(20),
            "G" | "GiB" => Some(30),
            "T" | "TiB" => Some(40),
            _ => None,
        };
        let bytes = number.parse::<usize>().ok().zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
        bytes.map(Size).ok_or_else(|| "expected a number of bytes, such as 512MiB".to_owned())
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("0", 0), ("10", 10), ("4KiB", 4096), ("2M", 2 << 20), ("1 GiB", 1 << 30)] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for text in ["", "MiB", "-1", "1.5G", "1MB", "99999999999999999999", "99999999999T"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn files_have_the_names_of_options_and_give_way_to_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("serve.toml");
        let text =
            "listen = \"0.0.0.0:80\"\nadmin = \"none\"\nkeys = \"keys.toml\"\nmemory = \"1GiB\"\nno-dedupe = true\n";
        std::fs::write(&path, text).unwrap();
        let given = Settings { listen: "127.0.0.1:1".parse().ok(), ..Settings::default() };
        let settings = given.or(Settings::read(&path).unwrap());
        assert_eq!(settings.listen, "127.0.0.1:1".parse().ok());
        assert_eq!(settings.admin, Some(Admin(None)));
        assert_eq!(settings.keys, Some(directory.path().join("keys.toml")));
        assert_eq!(settings.memory, Some(Size(1 << 30)));
        assert!(settings.no_dedupe);

        std::fs::write(&path, "lisen = \"x\"").unwrap();
        assert!(Settings::read(&path).is_err_and(|error| error.to_string().contains("lisen")));
    }
}
