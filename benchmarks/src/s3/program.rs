//! The servers: manyhash's own, as it was built with this program, and its peers, as they are installed.

use super::error::S3LoadError;
use super::signer::{ACCESS_KEY, REGION, SECRET_KEY};
use serde::Serialize;
use std::env;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server of S3.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Program {
    Manyhash,
    Versitygw,
    Minio,
}

impl Program {
    pub(crate) const ALL: [Program; 3] = [Program::Manyhash, Program::Versitygw, Program::Minio];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Program::Manyhash => "manyhash",
            Program::Versitygw => "versitygw",
            Program::Minio => "minio",
        }
    }
}

/// Where the servers are.
pub(crate) struct Programs {
    manyhash: PathBuf,
    /// Before the directories for programs.
    peers: PathBuf,
}

/// What manyhash's server is told beside the usual.
#[derive(Clone, Copy, Default)]
pub(crate) struct Manyhash {
    /// Whether it serves its metrics.
    pub(crate) admin: bool,
    /// As many connections as it is to hold, if more than it would.
    pub(crate) connections: Option<usize>,
}

impl Programs {
    /// Our own beside this program. Peers in that directory, or in `s3/bin` beside that of this program.
    ///
    /// # Errors
    /// If our own has not been built.
    pub(crate) fn new(peers: Option<&Path>) -> Result<Self, S3LoadError> {
        let this = env::current_exe().map_err(S3LoadError::Executable)?;
        let manyhash = this.with_file_name(format!("manyhash{}", env::consts::EXE_SUFFIX));
        // This program is in `target/release`.
        let target = this.parent().and_then(Path::parent).unwrap_or(Path::new(""));
        let peers = peers.map_or_else(|| target.join("s3/bin"), Path::to_owned);
        if manyhash.is_file() { Ok(Programs { manyhash, peers }) } else { Err(S3LoadError::NotBuilt(manyhash)) }
    }

    /// Where a peer of that name is, if it is installed.
    pub(crate) fn peer(&self, name: &str) -> Option<PathBuf> {
        let paths = env::var_os("PATH").unwrap_or_default();
        // What serves files is not in everybody's path.
        let directories = [self.peers.clone()].into_iter().chain(env::split_paths(&paths)).chain(["/usr/sbin".into()]);
        directories.map(|directory| directory.join(name)).find(|path| path.is_file())
    }

    pub(crate) fn installed(&self, program: Program) -> bool {
        program == Program::Manyhash || self.peer(program.name()).is_some()
    }

    /// The command that serves from a directory, with a store in it, and where it will listen if that is known before.
    pub(crate) fn command(
        &self,
        program: Program,
        directory: &Path,
        manyhash: Manyhash,
    ) -> Result<(Command, Option<SocketAddr>), S3LoadError> {
        let store = directory.join("store");
        fs::create_dir(&store).map_err(S3LoadError::of(&store))?;
        let mut command = match program {
            Program::Manyhash => Command::new(&self.manyhash),
            peer => Command::new(self.peer(peer.name()).ok_or(S3LoadError::Ended)?),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let log = directory.join("log");
        let log = fs::File::create(&log).map_err(S3LoadError::of(&log))?;
        let address = match program {
            Program::Manyhash => {
                let keys = directory.join("keys.toml");
                let text = format!("[[key]]\naccess = {ACCESS_KEY:?}\nsecret = {SECRET_KEY:?}\n");
                fs::write(&keys, text).map_err(S3LoadError::of(&keys))?;
                command.arg("serve").arg(&store).args(["--listen", "127.0.0.1:0"]).arg("--keys").arg(&keys);
                command.args(["--admin", if manyhash.admin { "127.0.0.1:0" } else { "none" }]);
                if let Some(connections) = manyhash.connections {
                    command.args(["--connections", &connections.to_string()]);
                }
                command.stderr(log);
                return Ok((command, None));
            }
            Program::Versitygw => {
                let address = free_address()?;
                command.args(["--access", ACCESS_KEY, "--secret", SECRET_KEY, "--region", REGION, "--quiet"]);
                command.args(["--keep-alive", "--port", &address.to_string(), "posix"]).arg(&store);
                address
            }
            Program::Minio => {
                let address = free_address()?;
                command.arg("server").arg(&store).args(["--quiet", "--address", &address.to_string()]);
                command.env("MINIO_ROOT_USER", ACCESS_KEY).env("MINIO_ROOT_PASSWORD", SECRET_KEY);
                command.env("MINIO_UPDATE", "off").env("MINIO_BROWSER", "off");
                // What it keeps for its users is not to be found in theirs.
                command.env("HOME", directory);
                address
            }
        };
        let copy = log.try_clone().map_err(S3LoadError::of(directory))?;
        command.stdout(log).stderr(copy);
        Ok((command, Some(address)))
    }
}

/// An address that nobody listens on, for a program that has to be told one.
pub(crate) fn free_address() -> Result<SocketAddr, S3LoadError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(S3LoadError::Client)?;
    listener.local_addr().map_err(S3LoadError::Client)
}
