//! Uses the engine on plain threads, without an async runtime. The engine fills lanes with the messages of all threads.

use manyhash::engine::JobError;
use manyhash::{Algorithm, Digest, Engine, digest};
use std::error::Error;
use std::thread;

/// Hashes an object with MD5 twice: handed over in one piece, and meanwhile in chunks.
fn client(engine: &Engine, object: &[u8]) -> Result<[Digest; 2], JobError> {
    let whole = engine.digest(Algorithm::Md5, object.to_vec());
    let mut stream = engine.stream(Algorithm::Md5);
    for chunk in object.chunks(64 << 10) {
        stream.write(chunk.to_vec()).wait()?;
    }
    Ok([whole.wait()?, stream.finish().wait()?])
}

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::builder().build()?;
    let clients: Vec<_> = (0..8_u8)
        .map(|i| {
            let engine = engine.clone();
            let object = vec![i; 1 << 20];
            thread::spawn(move || client(&engine, &object).map(|digests| (object, digests)))
        })
        .collect();
    for client in clients {
        let (object, digests) = client.join().map_err(|_| "a client panicked")??;
        assert_eq!(digests, [digest(Algorithm::Md5, object); 2]);
    }
    for stats in engine.stats().algorithms {
        println!("{}: {} bytes, lanes {:.0} % full", stats.algorithm, stats.bytes, 100.0 * stats.occupancy);
    }
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
