//! A server for tests of the client: it keeps what it is sent, and can be wrong on purpose.

use md5::{Digest, Md5};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What it does wrong, after the first request of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    ETag,
    Close,
    Refuse,
    Length,
    Body,
}

pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
}

type Store = Arc<Mutex<HashMap<String, Vec<u8>>>>;

impl Fake {
    /// Serves until the process ends.
    pub(crate) fn start(fault: Fault) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let store = Store::default();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, store) = (stream.unwrap(), store.clone());
                std::thread::spawn(move || serve(stream, &store, fault));
            }
        });
        Fake { address }
    }
}

/// Serves a connection until either side has had enough.
fn serve(mut stream: TcpStream, store: &Store, fault: Fault) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut is_first = true;
    loop {
        let fault = if std::mem::take(&mut is_first) { Fault::None } else { fault };
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line: &String| !line.is_empty()) {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            lines.push(line.trim_end().to_owned());
        }
        let path = lines[0].split(' ').nth(1)?.to_owned();
        let length = lines.iter().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).ok()?;
        let is_put = lines[0].starts_with("PUT");
        if is_put {
            store.lock().unwrap().insert(path.clone(), body);
        }
        let mut body = store.lock().unwrap().get(&path).cloned().unwrap();
        let mut etag = Md5::digest(&body);
        match fault {
            Fault::Close => return None,
            Fault::Refuse => {
                stream.write_all(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 6\r\n\r\nslowly").ok()?;
                continue;
            }
            Fault::ETag => etag[15] ^= 1,
            Fault::Body if !is_put => *body.last_mut().unwrap() ^= 1,
            _ => {}
        }
        let length = if is_put { usize::from(fault == Fault::Length) } else { body.len() };
        let etag: String = etag.iter().map(|byte| format!("{byte:02x}")).collect();
        let head = format!("HTTP/1.1 200 OK\r\nETag: \"{etag}\"\r\nContent-Length: {length}\r\n\r\n");
        // In two pieces, so that heads and bodies do not always come together.
        stream.write_all(&head.as_bytes()[..20]).ok()?;
        stream.write_all(&head.as_bytes()[20..]).ok()?;
        if !is_put {
            stream.write_all(&body).ok()?;
        }
    }
}
