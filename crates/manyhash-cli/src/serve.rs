//! The tool `manyhash serve`: an S3 server on a directory.

mod descriptors;
mod settings;

use manyhash_server::{Config, Server, TlsFiles};
use manysum::console::Console;
use settings::{Settings, SettingsError};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Serve a directory over S3.
///
/// Every upload is verified before anyone can see it: Content-MD5, checksums, the signed hash of the body and the
/// signatures of its chunks. When an upload is answered, it is on the disk. Without --keys, a temporary key is made and
/// printed. SIGTERM and SIGINT stop the server after the requests in progress; SIGHUP reads the file of keys again.
#[derive(clap::Args)]
pub struct ServeArguments {
    /// Directory to keep objects in, created if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Read settings from a TOML file; each has the name of its option. Options and the environment take precedence
    #[arg(long, value_name = "FILE", env = "MANYHASH_CONFIG")]
    config: Option<PathBuf>,

    #[command(flatten)]
    settings: Settings,
}

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main(arguments: ServeArguments) -> ExitCode {
    let mut console = Console::new("manyhash");
    let limit = descriptors::raise_limit();
    let outcome = match configure(arguments, limit) {
        Ok(config) => {
            if let Some(warning) = descriptors::warning(config.connections, limit) {
                console.message(warning);
            }
            run(&mut console, config)
        }
        Err(error) => {
            console.message(error.to_string());
            Ok(false)
        }
    };
    console.finish(outcome)
}

/// Puts together what the command line, the environment and the file say. `limit` is that of open files.
fn configure(arguments: ServeArguments, limit: u64) -> Result<Config, SettingsError> {
    let settings = match &arguments.config {
        Some(path) => arguments.settings.or(Settings::read(path)?),
        None => arguments.settings,
    };
    let mut config = Config::new(arguments.directory);
    config.listen = settings.listen.unwrap_or(config.listen);
    config.admin = settings.admin.map_or(config.admin, |admin| admin.0);
    config.keys = settings.keys;
    config.tls = match (settings.tls, settings.tls_key) {
        (Some(certificate), key) => Some(TlsFiles { key: key.unwrap_or_else(|| certificate.clone()), certificate }),
        (None, Some(_)) => return Err(SettingsError::KeyWithoutCertificate),
        (None, None) => None,
    };
    config.region = settings.region;
    let fitting = config.connections.min(descriptors::held(limit));
    config.connections = settings.connections.map_or(fitting, |number| number.get());
    config.memory = settings.memory.map_or(config.memory, |size| size.bytes());
    config.reserve = settings.reserve.map_or(config.reserve, |size| size.bytes() as u64);
    config.rate = settings.rate.map(|rate| rate.get());
    config.dedupe = !settings.no_dedupe;
    config.upload_expiry =
        settings.upload_days.map_or(config.upload_expiry, |days| Duration::from_secs(u64::from(days.get()) * 86_400));
    Ok(config)
}

fn run(console: &mut Console, config: Config) -> io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let [mut interrupt, mut terminate, mut hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        let server = match Server::bind(config).await {
            Ok(server) => server,
            Err(error) => {
                console.message(error.to_string());
                return Ok(false);
            }
        };
        greet(console, &server)?;
        let reload = server.reloader();
        let stop = async {
            let (Ok(interrupt), Ok(terminate), Ok(hangup)) = (&mut interrupt, &mut terminate, &mut hangup) else {
                return std::future::pending().await;
            };
            loop {
                tokio::select! {
                    _ = interrupt.recv() => return,
                    _ = terminate.recv() => return,
                    _ = hangup.recv() => if let Err(error) = reload() {
                        console.message(format!("{error}; the keys stay as they were"));
                    }
                }
            }
        };
        server.run(stop).await;
        Ok(true)
    })
}

/// Says where the server is, and how to talk to it.
fn greet(console: &mut Console, server: &Server) -> io::Result<()> {
    let endpoint = server.endpoint();
    let mut text = format!("endpoint    {endpoint}\n");
    if let Some(address) = server.admin_address() {
        text += &format!("live page   http://{address}\n");
    }
    if let Some(key) = server.temporary_key() {
        let (access, secret) = (key.access_key(), key.secret_key());
        text += &format!("access key  {access}\nsecret key  {secret}\n\n");
        text += "The key is forgotten when the server stops. To try it:\n";
        text += &format!("  export AWS_ACCESS_KEY_ID={access} AWS_SECRET_ACCESS_KEY={secret} AWS_REGION=us-east-1\n");
        text += &format!("  aws --endpoint-url {endpoint} s3 mb s3://bucket\n");
    }
    console.line(text.as_bytes())?;
    console.flush()
}
