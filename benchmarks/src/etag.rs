//! `etag`: what S3 says of a file in parts, and the size of parts that gives an ETag.
//!
//! One file, which is in memory when it is read: its ETag in parts of 8 MiB, and in as many parts of 1 and of 32 sizes, as
//! a guess tries them. The peers are OpenSSL's library, part after part, and the program `openssl dgst -md5`, which has
//! the MD5 of the whole file.

use crate::error::Error;
use crate::files::FilesError;
use crate::measure::{median, turns};
use crate::options::Options;
use crate::report::machine;
use crate::subject::Evp;
use manyhash::Algorithm;
use manyhash_s3::part_size::{Guess, candidates};
use manyhash_s3_client::local::{Cut, Files, Wanted};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Bytes in a part.
const PART: u64 = 8 << 20;

/// What is measured, and how.
#[derive(clap::Args)]
pub(crate) struct EtagArguments {
    #[command(flatten)]
    options: Options,
    /// Directory that the file is made in [default: that of temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
}

/// One subject.
#[derive(Debug, Serialize)]
struct EtagFigure {
    load: &'static str,
    bytes: u64,
    backend: &'static str,
    subject: &'static str,
    /// Sizes of parts that are tried in one read.
    candidates: usize,
    median_s: f64,
    /// Of the file, however often they are hashed.
    median_bytes_per_s: f64,
    rounds: usize,
    verified: bool,
}

/// What says of the file's bytes.
type Run<'a> = Box<dyn FnMut() -> Result<Vec<String>, Error> + 'a>;

struct EtagSubject<'a> {
    name: &'static str,
    candidates: usize,
    run: Run<'a>,
    expected: Vec<String>,
}

/// Measures and reports.
pub(crate) fn run(args: &EtagArguments) -> Result<(), Error> {
    let backend = manyhash::backend()?.name();
    let mut out = std::io::stdout().lock();
    if !args.options.json {
        write!(out, "{}", machine(backend))?;
    }
    let within = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let size = if args.options.quick { 128 << 20 } else { 1 << 30 };
    let directory = tempfile::tempdir_in(&within).map_err(FilesError::of(&within))?;
    let path = directory.path().join("file");
    make(&path, size).map_err(FilesError::of(&path))?;
    let figures = measure(&path, size, backend, args.options.rounds(7, 3))?;
    write!(out, "{}", args.options.text(&figures, table))?;
    Ok(())
}

/// Writes so many bytes, the same in every run, to the disk too: nothing is left for others to write meanwhile.
fn make(path: &Path, size: u64) -> std::io::Result<()> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut file, mut bytes) = (File::create_new(path)?, vec![0; 1 << 20]);
    for _ in 0..size >> 20 {
        random.fill_bytes(&mut bytes);
        file.write_all(&bytes)?;
    }
    file.sync_all()
}

/// The sizes of parts that a guess tries first, for as many parts as there are of 8 MiB.
fn sizes(size: u64, most: usize) -> Vec<u64> {
    candidates(size, size.div_ceil(PART) as u32).take(most).collect()
}

fn measure(path: &Path, size: u64, backend: &'static str, rounds: usize) -> Result<Vec<EtagFigure>, Error> {
    let mut subjects = subjects(path, size)?;
    for EtagSubject { name, run, expected, .. } in &mut subjects {
        let found = run()?;
        if let Some((wrong, expected)) = found.iter().zip(&*expected).find(|(found, expected)| found != expected) {
            let (wrong, expected) = (wrong.clone(), expected.clone());
            let (subject, file) = ((*name).to_owned(), path.display().to_string());
            return Err(FilesError::WrongDigest { subject, case: "etag", file, wrong, expected }.into());
        }
        assert_eq!(found.len(), expected.len(), "a subject has an answer for each candidate");
    }
    let mut seconds: Vec<Vec<f64>> = subjects.iter().map(|_| vec![]).collect();
    for round in 0..rounds {
        for at in turns(round, subjects.len()) {
            let start = Instant::now();
            (subjects[at].run)()?;
            seconds[at].push(start.elapsed().as_secs_f64());
        }
    }
    let figure = |(subject, seconds): (EtagSubject, Vec<f64>)| {
        let median_s = median(seconds);
        EtagFigure {
            load: "etag",
            bytes: size,
            backend,
            subject: subject.name,
            candidates: subject.candidates,
            median_s,
            median_bytes_per_s: size as f64 / median_s,
            rounds,
            verified: true,
        }
    };
    Ok(subjects.into_iter().zip(seconds).map(figure).collect())
}

fn subjects(path: &Path, size: u64) -> Result<Vec<EtagSubject<'_>>, Error> {
    let etag = |part: &u64| openssl_etag(path, *part);
    // Nothing but them takes long, so all cores have some.
    let all: Vec<String> = sizes(size, Guess::CANDIDATES).par_iter().map(etag).collect::<Result<_, _>>()?;
    let in_parts = vec![etag(&PART)?];
    let ours = |name, most: usize, expected: Vec<String>| {
        let sizes = if most == 0 { vec![PART] } else { sizes(size, most) };
        let (candidates, expected) = (sizes.len(), expected[..sizes.len()].to_vec());
        EtagSubject { name, candidates, run: Box::new(move || manyhash_etags(path, &sizes)), expected }
    };
    let program = Box::new(move || Ok(vec![program_md5(path)?]));
    let library = Box::new(move || Ok(vec![openssl_etag(path, PART)?]));
    Ok(vec![
        ours("manyhash etag", 0, in_parts.clone()),
        ours("manyhash guess of 1", 1, all.clone()),
        ours("manyhash guess of 32", Guess::CANDIDATES, all),
        EtagSubject { name: "openssl, by parts", candidates: 1, run: library, expected: in_parts },
        EtagSubject { name: "openssl dgst -md5", candidates: 1, run: program, expected: vec![openssl_md5(path)?] },
    ])
}

fn manyhash_etags(path: &Path, sizes: &[u64]) -> Result<Vec<String>, Error> {
    let cuts: Vec<_> = sizes.iter().filter_map(|size| Cut::every(*size)).collect();
    let mut wanted = Wanted::new();
    for cut in &cuts {
        wanted.etag(cut.clone());
    }
    let digested = Files::new().digest_one(path, wanted)?;
    Ok(cuts.iter().filter_map(|cut| digested.etag(cut)).map(|etag| etag.as_str().to_owned()).collect())
}

fn openssl_etag(path: &Path, part: u64) -> Result<String, Error> {
    let mut md5s = Vec::new();
    let mut start = 0;
    loop {
        let (md5, bytes) = openssl_part(path, start, part)?;
        if bytes == 0 {
            break;
        }
        md5s.extend(md5);
        start += bytes;
    }
    let mut evp = Evp::new(Algorithm::Md5)?;
    let mut digest = [0; 64];
    evp.digest(&md5s, &mut digest)?;
    Ok(format!("{}-{}", hex(&digest), md5s.len() / 16))
}

fn openssl_md5(path: &Path) -> Result<String, Error> {
    Ok(hex(&openssl_part(path, 0, u64::MAX)?.0))
}

/// The MD5 of at most so many bytes, and how many they are.
fn openssl_part(path: &Path, start: u64, most: u64) -> Result<([u8; 16], u64), Error> {
    let mut file = File::open(path).map_err(FilesError::of(path))?;
    file.seek(SeekFrom::Start(start)).map_err(FilesError::of(path))?;
    let mut file = file.take(most);
    let mut evp = Evp::new(Algorithm::Md5)?;
    evp.start()?;
    let (mut buffer, mut bytes) = (vec![0; 256 << 10], 0);
    loop {
        let read = file.read(&mut buffer).map_err(FilesError::of(path))?;
        if read == 0 {
            break;
        }
        evp.update(&buffer[..read])?;
        bytes += read as u64;
    }
    let mut digest = [0; 64];
    evp.finish(&mut digest)?;
    let mut md5 = [0; 16];
    md5.copy_from_slice(&digest[..16]);
    Ok((md5, bytes))
}

/// What the program prints: `MD5(FILE)= HEX`, or `MD5(stdin)`.
fn program_md5(path: &Path) -> Result<String, Error> {
    let subject = "openssl dgst -md5".to_owned();
    let output = Command::new("openssl").args(["dgst", "-md5"]).arg(path).output();
    let output = output.map_err(|error| FilesError::Run { subject: subject.clone(), error })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(FilesError::Failed { subject, status: output.status, message }.into());
    }
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    match line.trim_end().rsplit_once("= ") {
        Some((_, md5)) => Ok(md5.to_owned()),
        None => Err(FilesError::Line { subject, case: "etag", line }.into()),
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A row for each subject, and the ratio of its time to that of manyhash with one size.
fn table(figures: &[EtagFigure]) -> String {
    let Some(own) = figures.first() else { return String::new() };
    let mut text = format!(
        "\netag: one file of {:.3} GB, parts of 8 MiB, median of {} rounds\n{:<22}{:>12}{:>10}{:>10}{:>12}\n",
        own.bytes as f64 / 1e9,
        own.rounds,
        "subject",
        "candidates",
        "seconds",
        "GB/s",
        "manyhash x"
    );
    for EtagFigure { subject, candidates, median_s, median_bytes_per_s, .. } in figures {
        let (rate, ratio) = (median_bytes_per_s / 1e9, median_s / own.median_s);
        text += &format!("{subject:<22}{candidates:>12}{median_s:>10.3}{rate:>10.3}{ratio:>12.2}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{make, measure, program_md5, table};

    #[test]
    fn all_agree() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        make(&path, 20 << 20).unwrap();
        let figures = measure(&path, 20 << 20, "avx2", 1).unwrap();
        assert_eq!(figures.iter().map(|figure| figure.candidates).collect::<Vec<_>>(), [1, 1, 32, 1, 1]);
        assert!(table(&figures).contains("manyhash guess of 32"));
        assert!(program_md5(&directory.path().join("none")).is_err());
    }
}
