//! Prints the MD5 and SHA-256 of the files named on the command line. Each file is read once for both.
//!
//! ```text
//! cargo run --example files -- *.iso
//! ```

use manyhash::file::{Files, Source};
use manyhash::{Algorithm, HashFunction};
use std::ops::ControlFlow;
use std::path::PathBuf;

fn main() -> Result<(), String> {
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into());
    }
    let functions = [Algorithm::Md5, Algorithm::Sha256].map(HashFunction::Lanes);
    let mut failures = 0;
    let files = paths.into_iter().map(|path| (path.clone(), Source::Path(path)));
    Files::new(&functions).digest(files, |path, digested| {
        match digested {
            Ok(digested) => println!("{}  {}  {}", digested.digests[0], digested.digests[1], path.display()),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                failures += 1;
            }
        }
        ControlFlow::Continue(())
    });
    if failures == 0 { Ok(()) } else { Err(format!("{failures} files could not be read")) }
}

#[test]
fn runs() -> Result<(), String> {
    main()
}
