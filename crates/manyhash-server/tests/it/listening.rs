//! Clients that come all at once.

use manyhash_server::{Config, Server};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::time::Duration;
use tokio::net::TcpStream;

/// More than a socket has places by default, if the system lets a socket have more.
fn crowd() -> usize {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let files = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |files| files as usize);
    let places = std::fs::read_to_string("/proc/sys/net/core/somaxconn");
    let places = places.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(128);
    2000.min(places).min(files.saturating_sub(200))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_waits_to_be_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = Config::new(directory.path());
    config.listen = ([127, 0, 0, 1], 0).into();
    config.admin = None;
    let server = Server::bind(config).await.unwrap();
    let address = server.address();
    // Nobody is accepted before the server runs. Who finds no place would try again and again, and never find one.
    let clients: Vec<_> = (0..crowd()).map(|_| tokio::spawn(TcpStream::connect(address))).collect();
    let mut connected = Vec::new();
    for client in clients {
        let client = tokio::time::timeout(Duration::from_secs(30), client).await;
        connected.push(client.expect("there is a place").unwrap().unwrap());
    }
    assert_eq!(connected.len(), crowd());
}
