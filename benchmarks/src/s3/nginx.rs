//! Small objects got from manyhash's server, and the same bytes from nginx as static files, both by wrk.
//!
//! wrk is given paths whose query is a signature, valid for an hour: each of manyhash's answers is to a request that it
//! has verified, nginx verifies nothing.

use super::cell::{Cell, KIB, Operation, Place};
use super::connection::Requests;
use super::error::S3LoadError;
use super::goal::{Bound, Goal};
use super::process::Process;
use super::program::{Manyhash, Program, free_address};
use super::server::{Server, exchange};
use super::signer::{REGION, credentials, path};
use super::stage::Stage;
use crate::measure::{median, turns};
use crate::report::rate;
use http::{HeaderMap, Method, Uri};
use jiff::Timestamp;
use manyhash_s3::sign::presign;
use serde::Serialize;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The share of nginx's rate that is asked for.
const SHARE: f64 = 0.8;

/// Seconds that what is signed is valid.
const VALID: u32 = 3600;

#[derive(Debug, Serialize)]
pub(crate) struct NginxFigure {
    load: &'static str,
    #[serde(flatten)]
    cell: Cell,
    subject: &'static str,
    median_requests_per_s: f64,
    median_cpu_us_per_request: f64,
    median_p50_us: f64,
    median_p99_us: f64,
    /// The median of manyhash's rate to this one's in each round.
    manyhash_requests_ratio: f64,
    rounds: usize,
    verified: bool,
}

/// One run of wrk.
struct Sample {
    requests_per_s: f64,
    cpu_us_per_request: f64,
    p50_us: f64,
    p99_us: f64,
}

/// Measures both in turns, or nothing where nginx or wrk is not installed.
pub(crate) fn run(stage: &Stage, rounds: usize) -> Result<Vec<NginxFigure>, S3LoadError> {
    let peers = ["nginx", "wrk"].map(|name| stage.programs.peer(name).ok_or(name));
    let [nginx, wrk] = match peers {
        [Ok(nginx), Ok(wrk)] => [nginx, wrk],
        [Err(name), _] | [_, Err(name)] => {
            eprintln!("manyhash-bench: nginx left out: {name} is not installed");
            return Ok(vec![]);
        }
    };
    let cell = Cell::get(4 * KIB, 64, Place::Memory);
    let server = stage.server(Program::Manyhash, cell.place, Manyhash::default())?;
    let requests = Requests::new(cell, server.address);
    server.fill(&requests)?;
    let within = stage.places.path(cell.place).unwrap_or(Path::new("/dev/shm"));
    let files = Files::start(&nginx, within, &requests)?;
    let sides = [Side::manyhash(&server, &files, cell)?, Side::nginx(&files, cell)?];
    for side in &sides {
        side.verify(&requests)?;
    }
    let seconds = if stage.quick { 1 } else { 5 };
    let mut samples: [Vec<Sample>; 2] = [vec![], vec![]];
    for round in 0..rounds {
        for at in turns(round, samples.len()) {
            samples[at].push(sides[at].sample(&wrk, &files.script(), cell, seconds)?);
        }
    }
    let figure = |at: usize| {
        let over = |of: fn(&Sample) -> f64| median(samples[at].iter().map(of).collect());
        let ratios = samples[0].iter().zip(&samples[at]).map(|(own, other)| own.requests_per_s / other.requests_per_s);
        NginxFigure {
            load: "s3",
            cell,
            subject: sides[at].subject,
            median_requests_per_s: over(|sample| sample.requests_per_s),
            median_cpu_us_per_request: over(|sample| sample.cpu_us_per_request),
            median_p50_us: over(|sample| sample.p50_us),
            median_p99_us: over(|sample| sample.p99_us),
            manyhash_requests_ratio: median(ratios.collect()),
            rounds,
            verified: true,
        }
    };
    Ok(vec![figure(0), figure(1)])
}

/// nginx, and a directory with what it serves.
struct Files {
    // It ends before its files go.
    process: Process,
    address: SocketAddr,
    directory: TempDir,
}

impl Files {
    fn start(nginx: &Path, within: &Path, requests: &Requests) -> Result<Self, S3LoadError> {
        let directory = tempfile::Builder::new().prefix("manyhash-bench-").tempdir_in(within);
        let directory = directory.map_err(S3LoadError::of(within))?;
        let root = directory.path();
        let write = |name: &str, bytes: &[u8]| {
            let file = root.join(name);
            fs::write(&file, bytes).map_err(S3LoadError::of(&file))
        };
        // Its workers are not who started it.
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).map_err(S3LoadError::of(root))?;
        let first = path(0);
        let bucket = root.join(format!("www{first}"));
        let bucket = bucket.parent().unwrap_or(root);
        fs::create_dir_all(bucket).map_err(S3LoadError::of(bucket))?;
        for number in 0..requests.cell.objects() {
            write(&format!("www{}", path(number)), &requests.bodies.body(number).pieces().concat())?;
        }
        let address = free_address()?;
        write("wrk.lua", include_bytes!("wrk.lua"))?;
        write("nginx.conf", configuration(address).as_bytes())?;
        let mut command = Command::new(nginx);
        command.arg("-p").arg(root).arg("-c").arg(root.join("nginx.conf")).arg("-e").arg(root.join("error.log"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = Process::start(&mut command)?;
        let begun = Instant::now();
        while let Err(error) = std::net::TcpStream::connect(address) {
            if process.alive().is_err() || begun.elapsed() > Duration::from_secs(10) {
                let said = fs::read_to_string(root.join("error.log")).unwrap_or_default();
                return Err(S3LoadError::NotReady { problem: Box::new(S3LoadError::Connection(error)), said });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Files { process, address, directory })
    }

    fn script(&self) -> PathBuf {
        self.directory.path().join("wrk.lua")
    }
}

/// As Debian installs it, without a log of accesses, and with connections that are kept for the whole run.
fn configuration(address: SocketAddr) -> String {
    format!(
        "daemon off;\nworker_processes auto;\npid nginx.pid;\nevents {{ worker_connections 1024; }}\n\
         http {{\n  sendfile on;\n  tcp_nopush on;\n  access_log off;\n  keepalive_requests 1000000000;\n  \
         default_type application/octet-stream;\n  server {{\n    listen {address};\n    root www;\n  }}\n}}\n"
    )
}

/// What wrk asks.
struct Side<'s> {
    subject: &'static str,
    process: &'s Process,
    address: SocketAddr,
    /// A file with a path on each line.
    list: PathBuf,
    paths: Vec<String>,
}

impl<'s> Side<'s> {
    fn manyhash(server: &'s Server, files: &Files, cell: Cell) -> Result<Self, S3LoadError> {
        let sign = |number| {
            let uri: Uri = format!("http://{}{}", server.address, path(number)).parse().expect("it is a URI");
            let (none, now) = (HeaderMap::new(), Timestamp::now());
            let signed = presign(&Method::GET, &uri, &none, &credentials(), REGION, VALID, now)?;
            Ok(signed.path_and_query().map_or("/", |path| path.as_str()).to_owned())
        };
        let paths = (0..cell.objects()).map(sign).collect::<Result<_, S3LoadError>>()?;
        Side::new("manyhash", &server.process, server.address, files, paths)
    }

    fn nginx(files: &'s Files, cell: Cell) -> Result<Self, S3LoadError> {
        Side::new("nginx", &files.process, files.address, files, (0..cell.objects()).map(path).collect())
    }

    fn new(
        subject: &'static str,
        process: &'s Process,
        address: SocketAddr,
        files: &Files,
        paths: Vec<String>,
    ) -> Result<Self, S3LoadError> {
        let list = files.directory.path().join(subject);
        fs::write(&list, paths.join("\n") + "\n").map_err(S3LoadError::of(&list))?;
        Ok(Side { subject, process, address, list, paths })
    }

    /// Whether every path has the bytes that it should have. wrk looks at the status only.
    fn verify(&self, requests: &Requests) -> Result<(), S3LoadError> {
        for (number, path) in (0..).zip(&self.paths) {
            let request = format!("{} {path} HTTP/1.1\r\nhost: {}\r\n\r\n", Operation::Get.method(), self.address);
            let (status, bytes) = exchange(self.address, request.as_bytes())?;
            let body = requests.bodies.body(number);
            if status != 200 {
                let said = String::from_utf8_lossy(&bytes).into_owned();
                return Err(S3LoadError::Refused { status, said });
            }
            if bytes.len() != body.len() || !body.has_at(0, &bytes) {
                return Err(S3LoadError::WrongBody { client: 0, at: 0, length: body.len() });
            }
        }
        Ok(())
    }

    fn sample(&self, wrk: &Path, script: &Path, cell: Cell, seconds: u32) -> Result<Sample, S3LoadError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(cell.clients);
        let mut command = Command::new(wrk);
        command.args([format!("-t{threads}"), format!("-c{}", cell.clients), format!("-d{seconds}s")]);
        command.arg("-s").arg(script).arg(format!("http://{}", self.address)).arg("--").arg(&self.list);
        let before = self.process.cpu()?;
        let output = command.stdin(Stdio::null()).output().map_err(S3LoadError::Run)?;
        let cpu = self.process.cpu()? - before;
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers = text.lines().find_map(|line| line.strip_prefix("figures "));
        let numbers: Option<Vec<f64>> =
            numbers.and_then(|line| line.split(' ').map(|number| number.parse().ok()).collect());
        match numbers.as_deref() {
            Some(&[requests, duration_us, 0.0, p50_us, p99_us]) if requests > 0.0 => Ok(Sample {
                requests_per_s: requests * 1e6 / duration_us,
                cpu_us_per_request: cpu.as_secs_f64() * 1e6 / requests,
                p50_us,
                p99_us,
            }),
            _ => Err(S3LoadError::Wrk(format!("{text}{}", String::from_utf8_lossy(&output.stderr)))),
        }
    }
}

/// What is asked for, if both were measured.
pub(crate) fn goal(figures: &[NginxFigure]) -> Option<Goal> {
    let nginx = figures.iter().find(|figure| figure.subject == "nginx")?;
    let what = format!("{}, wrk: rate of nginx's static files", nginx.cell);
    Some(Goal::new(what, Bound::AtLeast(SHARE), "x", nginx.manyhash_requests_ratio))
}

pub(crate) fn table(figures: &[NginxFigure]) -> String {
    let Some(first) = figures.first() else { return String::new() };
    let mut text = format!(
        "\n{}, wrk: median of {} rounds; x: manyhash's to this\n{:<10}{:>12}{:>7}{:>11}{:>10}{:>10}\n",
        first.cell, first.rounds, "subject", "requests/s", "x", "CPU us", "p50 ms", "p99 ms"
    );
    for figure in figures {
        text += &format!(
            "{:<10}{:>12}{:>7.2}{:>11.1}{:>10.2}{:>10.2}\n",
            figure.subject,
            rate(figure.median_requests_per_s),
            figure.manyhash_requests_ratio,
            figure.median_cpu_us_per_request,
            figure.median_p50_us / 1e3,
            figure.median_p99_us / 1e3
        );
    }
    text
}
