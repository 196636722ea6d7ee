//! How files are uploaded, whichever tool does it.

use crate::s3::connection::ConnectionArguments;
use crate::s3::transfer::SayingArguments;
use crate::size;
use manyhash_s3::limits::{MAX_PART_BYTES, MIN_PART_BYTES};
use manyhash_s3_client::transfer::{ChecksumChoice, UploadSettings};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The options of tools that upload.
#[derive(clap::Args)]
pub(in crate::s3) struct UploadOptions {
    /// Checksum to upload with: auto, none, or an algorithm (crc32, crc32c, crc64nvme, sha1, sha256, sha512, md5, xxhash64,
    /// xxhash3, xxhash128)
    #[arg(long, value_name = "WHICH", default_value = "auto", value_parser = choice)]
    checksum: ChecksumChoice,

    /// Bytes in a part, from 5M to 5G; smaller files are uploaded at once
    #[arg(long, value_name = "SIZE", value_parser = part_size)]
    part_size: Option<NonZeroU64>,

    #[command(flatten)]
    pub(in crate::s3) saying: SayingArguments,

    #[command(flatten)]
    pub(in crate::s3) connection: ConnectionArguments,
}

impl UploadOptions {
    /// What an uploader is made with.
    pub(in crate::s3) fn settings(&self, counter: Arc<AtomicU64>) -> UploadSettings {
        let mut settings = UploadSettings::default();
        settings.checksum = self.checksum;
        settings.part_bytes = self.part_size;
        settings.counter = Some(counter);
        settings
    }
}

fn choice(text: &str) -> Result<ChecksumChoice, String> {
    match &*text.to_ascii_lowercase() {
        "auto" => Ok(ChecksumChoice::Auto),
        "none" => Ok(ChecksumChoice::None),
        _ => text.parse().map(ChecksumChoice::Algorithm).map_err(|error| format!("{error}; or auto, or none")),
    }
}

fn part_size(text: &str) -> Result<NonZeroU64, String> {
    let bytes = size::some(text)?;
    match NonZeroU64::new(bytes) {
        Some(size) if (MIN_PART_BYTES..=MAX_PART_BYTES).contains(&bytes) => Ok(size),
        _ => Err("a part of an object has 5 MiB (5M) to 5 GiB (5G)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manyhash_s3::checksum::ChecksumAlgorithm;

    #[test]
    fn choices() {
        assert_eq!(choice("AUTO"), Ok(ChecksumChoice::Auto));
        assert_eq!(choice("none"), Ok(ChecksumChoice::None));
        for algorithm in ChecksumAlgorithm::ALL {
            assert_eq!(choice(algorithm.lower_case_name()), Ok(ChecksumChoice::Algorithm(algorithm)));
        }
        assert!(choice("crc").is_err_and(|error| error.contains("XXHASH128; or auto, or none")));
        assert_eq!(part_size("5M"), Ok(NonZeroU64::new(5 << 20).expect("not 0")));
        assert_eq!(part_size("5G"), Ok(NonZeroU64::new(5 << 30).expect("not 0")));
        for text in ["0", "5MB", "5368709121", "x"] {
            assert!(part_size(text).is_err(), "{text}");
        }
    }
}
