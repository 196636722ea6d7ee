//! HMAC of many rows of 16 bytes under one key.

use super::{Construction, Contestant, Run};
use crate::error::Error;
use crate::subject::MANYHASH;
use hmac::{KeyInit, Mac};
use manyhash::{Algorithm, Batch, Column, Encoding};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use std::ffi::{c_int, c_uchar, c_uint, c_void};
use std::num::NonZeroUsize;

const WIDTH: usize = 16;
const KEY: [u8; 32] = *b"a key of as many bytes as SHA256";

/// Rows side by side, the same in every run.
pub(super) fn rows(count: usize) -> Vec<u8> {
    let mut rows = vec![0; count * WIDTH];
    Xoshiro256PlusPlus::seed_from_u64(5).fill_bytes(&mut rows);
    rows
}

unsafe extern "C" {
    /// OpenSSL's call for a whole message, of which `openssl-sys` has no binding. A null `algorithm` is an error.
    fn HMAC(
        algorithm: *const openssl_sys::EVP_MD,
        key: *const c_void,
        key_length: c_int,
        message: *const c_uchar,
        length: usize,
        tag: *mut c_uchar,
        tag_length: *mut c_uint,
    ) -> *mut c_uchar;
}

/// manyhash with a column; OpenSSL's and AWS-LC's calls for a whole message; RustCrypto with a keyed state that is cloned.
pub(super) fn construction(rows: &[u8], algorithm: Algorithm) -> Result<Construction<'_>, Error> {
    let width = algorithm.digest_bytes();
    let column = Column::fixed(rows, WIDTH).expect("a whole number of rows");
    let batch = Batch::new(algorithm).key(KEY).threads(NonZeroUsize::MIN);
    let own = move |tags: &mut [u8]| {
        batch.digest_column_into(&column, Encoding::Binary, tags).expect("there is room for each tag");
    };
    let openssl = openssl::hash::MessageDigest::from_name(algorithm.name()).expect("OpenSSL has it");
    let openssl = move |tags: &mut [u8]| {
        for (row, tag) in rows.chunks(WIDTH).zip(tags.chunks_mut(width)) {
            // SAFETY: pointers and lengths are of slices; a tag has room for the algorithm's bytes, and its length may be
            // null.
            let done = unsafe {
                let (key, bytes) = (KEY.as_ptr().cast(), KEY.len() as c_int);
                HMAC(openssl.as_ptr(), key, bytes, row.as_ptr(), row.len(), tag.as_mut_ptr(), std::ptr::null_mut())
            };
            assert!(!done.is_null(), "OpenSSL authenticates any message");
        }
    };
    aws_lc_sys::init();
    let aws_lc = aws_lc(algorithm);
    let aws_lc = move |tags: &mut [u8]| {
        for (row, tag) in rows.chunks(WIDTH).zip(tags.chunks_mut(width)) {
            // SAFETY: as above; the algorithm is one of AWS-LC's statics.
            let done = unsafe {
                let (key, bytes) = (KEY.as_ptr().cast(), KEY.len());
                let length = std::ptr::null_mut();
                aws_lc_sys::HMAC(aws_lc, key, bytes, row.as_ptr(), row.len(), tag.as_mut_ptr(), length)
            };
            assert!(!done.is_null(), "AWS-LC authenticates any message");
        }
    };
    let rustcrypto: Run = match algorithm {
        Algorithm::Md5 => Box::new(rustcrypto::<hmac::Hmac<md5::Md5>>(rows, width)),
        Algorithm::Sha256 => Box::new(rustcrypto::<hmac::Hmac<sha2::Sha256>>(rows, width)),
        _ => Box::new(rustcrypto::<hmac::Hmac<sha2::Sha512>>(rows, width)),
    };
    let contestants = vec![
        Contestant::new(MANYHASH, own),
        Contestant::new("openssl", openssl),
        Contestant::new("aws-lc", aws_lc),
        Contestant::new("rustcrypto", rustcrypto),
    ];
    let items = rows.len() / WIDTH;
    Ok(Construction { name: "hmac", algorithm, item: "rows of 16 bytes", items, length: WIDTH, width, contestants })
}

fn aws_lc(algorithm: Algorithm) -> *const aws_lc_sys::EVP_MD {
    // SAFETY: these return pointers to statics.
    unsafe {
        match algorithm {
            Algorithm::Md5 => aws_lc_sys::EVP_md5(),
            Algorithm::Sha256 => aws_lc_sys::EVP_sha256(),
            _ => aws_lc_sys::EVP_sha512(),
        }
    }
}

fn rustcrypto<M: Mac + KeyInit + Clone>(rows: &[u8], width: usize) -> impl FnMut(&mut [u8]) {
    let keyed = <M as KeyInit>::new_from_slice(&KEY).expect("HMAC takes any key");
    move |tags| {
        for (row, tag) in rows.chunks(WIDTH).zip(tags.chunks_mut(width)) {
            let mut mac = keyed.clone();
            mac.update(row);
            tag.copy_from_slice(&mac.finalize().into_bytes());
        }
    }
}
