//! Hashes whatever tokio can read, by `tokio::io::copy` into a stream of the engine.
//!
//! `tokio::io::copy` lends its bytes and the engine takes ownership of them, so this copies each piece once. The
//! handler in `axum.rs` needs no copy.

use manyhash::{Algorithm, Engine, digest};
use std::error::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, duplex};

/// Number of bytes between the copying task and the hashing one.
const PIPE: usize = 256 << 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::builder().build()?;
    let object = vec![7; 5 << 20];

    let mut stream = engine.stream(Algorithm::Sha256);
    let (mut writer, mut reader) = duplex(PIPE);
    let hashing = tokio::spawn(async move {
        loop {
            let mut chunk = Vec::with_capacity(PIPE);
            if reader.read_buf(&mut chunk).await? == 0 {
                return stream.finish().await.map_err(std::io::Error::other);
            }
            stream.write(chunk).await.map_err(std::io::Error::other)?;
        }
    });
    let bytes = copy(&mut &object[..], &mut writer).await?;
    writer.shutdown().await?;
    let sha256 = hashing.await??;
    println!("{sha256}  {bytes} bytes");

    assert_eq!(sha256, digest(Algorithm::Sha256, &object));
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
