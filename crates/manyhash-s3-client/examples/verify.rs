//! Compares a directory with a bucket: `cargo run --example verify -- DIR BUCKET PREFIX`.

use futures_util::StreamExt;
use manyhash_s3_client::http::{Client, Config, Options};
use manyhash_s3_client::verify::{LocalFiles, Settings, Side, State, verify};
use std::error::Error;
use std::pin::pin;
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, bucket, prefix] = &arguments[..] else { return Err("expected DIR BUCKET PREFIX".into()) };
    let client = Client::new(Config::load(Options::default()).await?, bucket)?;
    let sides = [Side::Tree(directory.into()), Side::Bucket { remote: Arc::new(client), prefix: prefix.clone() }];
    let mut outcomes = pin!(verify(sides, LocalFiles::new(None), Settings::default()));
    while let Some(outcome) = outcomes.next().await {
        let outcome = outcome?;
        let name = String::from_utf8_lossy(&outcome.name);
        match outcome.state {
            State::Same(check) => println!("{name}: same ({check})"),
            State::Differs(difference) => println!("{name}: differs ({difference})"),
            State::Unverified(why) => println!("{name}: unverified: {why}"),
            State::Missing => println!("{name}: only in {directory}"),
            State::Extra => println!("{name}: only in {bucket}"),
            _ => {}
        }
    }
    Ok(())
}
