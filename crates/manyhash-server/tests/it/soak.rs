//! Mixed load with faults, for as many seconds as the environment variable `MANYHASH_SLOW` says, or four.
//!
//! Clients of every behaviour use one server at the same time: they upload in all ways that S3 knows, copy, delete, list and
//! read. Some lie about what they send, stop in the middle, or leave before the answer. Meanwhile the disk fails at
//! random, and the server is stopped, or loses its disk as in a power failure, and started again on what is left. A model
//! knows at every moment what may be visible; whatever a client reads is compared with it. After each restart all keys are.
//!
//! `MANYHASH_SEED` repeats what is chosen at random, but not the order in which threads run.

mod clients;
mod counts;
mod disk;
mod model;
mod readers;
mod server;
mod storm;
mod uploads;
mod wire;

use crate::client::Incoming;
use clients::Client;
use counts::Counts;
use disk::{Platter, Survives};
use manyhash_store::Store;
use model::{KEYS, Model};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use server::{Serving, Site};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use storm::{Kind, Storm};
use tokio::runtime::Runtime;
use wire::{Connection, Delivery, Outgoing};

/// How many clients there are at a time.
const CLIENTS: u64 = 24;

/// How long a server may fail after its disk has.
const RECOVERY: Duration = Duration::from_secs(5);

/// How long an answer may take, by a slow disk and many clients.
const PATIENCE: Duration = Duration::from_secs(90);

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text}")))
}

/// What all clients share.
struct Soak {
    model: Model,
    counts: Counts,
    platter: Arc<Platter>,
    /// Where the server is. Who sends a request holds it, so that nobody does while the server is exchanged.
    gate: tokio::sync::RwLock<SocketAddr>,
    is_over: AtomicBool,
    /// When the server was stopped or started for the last time.
    exchanged: Mutex<Instant>,
    failures: Mutex<Vec<String>>,
}

impl Soak {
    fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Ends the soak: something is wrong.
    fn fail(&self, text: String) {
        eprintln!("soak: {text}");
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        self.is_over.store(true, Relaxed);
    }

    fn has_failed(&self) -> bool {
        !self.failures.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn exchanging(&self) {
        *self.exchanged.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether a server may fail what was asked at this time.
    fn is_excused(&self, asked: Instant) -> bool {
        let exchanged = *self.exchanged.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble = self.platter.faults.last().map_or(exchanged, |last| last.max(exchanged));
        trouble + RECOVERY >= asked
    }

    fn expect_excuse(&self, what: &str) {
        if !self.is_excused(Instant::now()) {
            self.fail(format!("{what} failed, and nothing else did"));
        }
    }

    /// Sends a request and waits for the answer.
    async fn ask(
        &self,
        server: SocketAddr,
        connection: &mut Connection,
        what: &str,
        request: &Outgoing,
    ) -> Option<Incoming> {
        self.counts.requests.add(what);
        let asked = Instant::now();
        let sent = tokio::time::timeout(PATIENCE, connection.send(server, request)).await;
        let Ok(answer) = sent else {
            self.fail(format!("{what}, {}: no answer in {PATIENCE:?}", request.uri));
            connection.close();
            return None;
        };
        let status = answer.as_ref().map(|answer| answer.status);
        self.counts.answers.add(status.map_or("none".to_owned(), |status| status.to_string()));
        match request.delivery {
            Delivery::Unheard(ending) => self.counts.client_faults.add(format!("unheard, {ending:?}")),
            Delivery::Slowly => self.counts.client_faults.add("slow"),
            _ => {}
        }
        let is_honest = request.lie.is_none() && matches!(request.delivery, Delivery::Whole | Delivery::Slowly);
        // Documents are refused while bodies have all the memory that there is.
        let is_failure =
            status.map_or(is_honest, |status| status >= 500 && (status != 503 || request.method != "POST"));
        if is_failure && !self.is_excused(asked) {
            self.fail(format!("{what}, {}: {answer:?}, and nothing else failed", request.uri));
        }
        answer
    }

    /// Takes note of the answer to a request that must not succeed.
    fn expect_refusal(&self, answer: Option<&Incoming>, what: &str, request: &Outgoing) {
        self.counts.client_faults.add(what);
        if let Some(answer) = answer.filter(|answer| answer.status < 400) {
            self.counts.unverified.fetch_add(1, Relaxed);
            let Outgoing { uri, headers, framing, .. } = request;
            self.fail(format!("{what} was accepted: {uri}, {framing:?}, {headers:?}: {answer:?}"));
        }
    }
}

/// What the server is put through.
struct Conductor {
    soak: Arc<Soak>,
    site: Site,
    clients: Runtime,
    random: SmallRng,
    end: Instant,
    /// The longest time of one weather.
    pace: Duration,
}

impl Conductor {
    /// Whether there is time for more, after a while.
    fn wait(&mut self) -> bool {
        let until = Instant::now() + self.pace.mul_f64(self.random.random_range(0.05..1.0));
        while Instant::now() < until.min(self.end) && !self.soak.is_over() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Instant::now() < self.end && !self.soak.is_over()
    }

    fn storm(&mut self) -> Storm {
        let kind = Kind::ALL[self.random.random_range(0..Kind::ALL.len())];
        Storm { kind, one_in: [2, 20, 100, 400, 2000][self.random.random_range(0..5)] }
    }

    fn run(&mut self) {
        let mut server = self.start();
        self.clients.block_on(async {
            let address = server.address;
            *self.soak.gate.write().await = address;
            let (mut connection, request) = (Connection::default(), Outgoing::new("PUT", "/soak"));
            let created = self.soak.ask(address, &mut connection, "CreateBucket", &request);
            assert_eq!(created.await.unwrap().status, 200);
        });
        let seed = self.random.random::<u64>() >> 1;
        let client = |number| tokio::spawn(Client::new(self.soak.clone(), seed + number).run());
        let clients: Vec<_> = self.clients.block_on(async { (0..CLIENTS).map(client).collect() });
        loop {
            let weathers = self.random.random_range(2..6);
            let goes_on = (0..weathers).all(|_| {
                let storm = self.storm();
                self.soak.platter.faults.set(self.random.random_bool(0.5).then_some(storm));
                self.wait()
            });
            if !goes_on {
                break;
            }
            server = self.exchange(server);
        }
        self.soak.is_over.store(true, Relaxed);
        self.soak.platter.faults.set(None);
        for client in clients {
            self.clients.block_on(client).unwrap();
        }
        if !self.soak.has_failed() {
            server = self.exchange(server);
            server.stop();
            self.check();
        }
    }

    /// Ends the server one way or the other, and starts another on what is left.
    fn exchange(&mut self, server: Serving) -> Serving {
        let soak = self.soak.clone();
        soak.exchanging();
        let is_cut = self.random.random_bool(0.6);
        if is_cut {
            let survives = [Survives::Nothing, Survives::Everything, Survives::Some][self.random.random_range(0..3)];
            soak.counts.restarts.add(format!("power failure, {survives:?}"));
            let (pages, names) = soak.platter.lose_power(survives, &mut self.random);
            soak.counts.lost_pages.fetch_add(pages as u64, Relaxed);
            soak.counts.lost_names.fetch_add(names as u64, Relaxed);
            server.kill();
            soak.platter.faults.set(None);
            return self.begin_again(None);
        }
        soak.counts.restarts.add("graceful");
        self.begin_again(Some(server))
    }

    /// Waits until no request is under way, starts a server, and looks at everything.
    fn begin_again(&mut self, last: Option<Serving>) -> Serving {
        let soak = self.soak.clone();
        if let Some(last) = &last {
            last.stopping();
        }
        let mut gate = self.clients.block_on(soak.gate.write());
        if let Some(last) = last {
            last.stop();
            soak.platter.faults.set(None);
            self.check();
        }
        soak.model.server_is_over();
        let server = self.start();
        *gate = server.address;
        let mut client = Client::new(soak.clone(), self.random.random());
        self.clients.block_on(async {
            for key in 0..KEYS {
                if !client.get_whole(server.address, key).await {
                    soak.fail(format!("{} cannot be read after a restart", Model::name(key)));
                }
            }
            for is_v2 in [false, true] {
                if !client.list_all(server.address, "", 1000, is_v2).await {
                    soak.fail("nothing can be listed after a restart".to_owned());
                }
            }
        });
        soak.exchanging();
        server
    }

    /// Starts a server. Sometimes the disk fails while it does, and it must say so and start later.
    fn start(&mut self) -> Serving {
        if self.random.random_ratio(1, 3) {
            let storm = self.storm();
            self.soak.platter.faults.set(Some(storm));
        }
        for _ in 0..3 {
            match self.site.serve(self.soak.platter.next_life()) {
                Ok(server) => {
                    self.soak.platter.faults.set(None);
                    return server;
                }
                // The disk's, or it would have panicked.
                Err(_) => self.soak.counts.restarts.add("failed, with the disk"),
            }
        }
        self.soak.platter.faults.set(None);
        self.site.serve(self.soak.platter.next_life()).expect("a server starts on a disk that is whole")
    }

    /// Hashes everything that is stored again. The server has stopped.
    fn check(&self) {
        self.soak.platter.settle();
        let report = Store::check(self.site.store(), false, |_| {}).expect("a store can be checked");
        let is_sound = report.damage.is_empty() && report.miscounts.is_empty() && report.segments.is_empty();
        if !is_sound {
            return self.soak.fail(format!("the store is damaged: {report:?}"));
        }
        if report.orphans.is_empty() {
            return;
        }
        // What a disk has not removed when it failed.
        self.soak.counts.orphans.fetch_add(report.orphans.len() as u64, Relaxed);
        Store::check(self.site.store(), true, |_| {}).expect("a store can be repaired");
        let report = Store::check(self.site.store(), false, |_| {}).expect("a store can be checked");
        if !report.is_clean() {
            self.soak.fail(format!("the store is not clean after a repair: {report:?}"));
        }
    }
}

#[test]
fn mixed_load_with_faults() {
    let seed = number("MANYHASH_SEED").unwrap_or_else(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        since.as_nanos() as u64
    });
    println!("MANYHASH_SEED={seed}");
    let duration = Duration::from_secs(number("MANYHASH_SLOW").unwrap_or(4));
    let site = Site::new();
    let mut random = SmallRng::seed_from_u64(seed);
    let platter = Platter::new(site.graves(), SmallRng::seed_from_u64(random.random()));
    let soak = Arc::new(Soak {
        model: Model::new(),
        counts: Counts::default(),
        platter: platter.clone(),
        gate: tokio::sync::RwLock::new(([127, 0, 0, 1], 9).into()),
        is_over: AtomicBool::new(false),
        exchanged: Mutex::new(Instant::now()),
        failures: Mutex::default(),
    });
    let clients = Runtime::new().unwrap();
    let pace = (duration / 12).clamp(Duration::from_millis(300), Duration::from_secs(9));
    let end = Instant::now() + duration;
    let mut conductor = Conductor { soak: soak.clone(), site, clients, random, end, pace };
    conductor.run();
    drop(conductor);
    let disk_faults: BTreeMap<_, _> = platter.faults.counts().collect();
    soak.counts.print(&disk_faults);
    let failures = soak.failures.lock().unwrap();
    assert!(failures.is_empty(), "MANYHASH_SEED={seed}: {}", failures.join("\n"));
    assert_eq!(soak.counts.unverified.load(Relaxed), 0);
    let enough: [&AtomicU64; 2] = [&soak.counts.verified, &soak.counts.listed];
    assert!(enough.iter().all(|count| count.load(Relaxed) > 0) && soak.counts.client_faults.total() > 0);
}
