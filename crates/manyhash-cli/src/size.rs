//! Numbers of bytes as coreutils takes them: `4096`, `64K`, `64KiB`, `10MB`.

/// A number of bytes: K, M, G, T, P and E, and the same with `iB`, are powers of 1024; with `B` powers of 1000.
pub(crate) fn size(text: &str) -> Result<u64, &'static str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let unit = unit(suffix).filter(|_| digits > 0);
    let unit = unit.ok_or("expected a number of bytes, such as 4096, 64K (of 1024), 10MB (of 1000) or 1GiB")?;
    let bytes = number.parse().ok().and_then(|number: u64| number.checked_mul(unit));
    bytes.ok_or("too large: the number of bytes must fit in 64 bits")
}

/// A number of bytes that is not 0.
pub(crate) fn some(text: &str) -> Result<u64, &'static str> {
    match size(text)? {
        0 => Err("expected at least 1 byte"),
        bytes => Ok(bytes),
    }
}

fn unit(suffix: &str) -> Option<u64> {
    let mut letters = suffix.chars();
    let power = match letters.next().map(|letter| letter.to_ascii_uppercase()) {
        None => return Some(1),
        Some('B') if letters.as_str().is_empty() => return Some(1),
        Some(letter) => "KMGTPE".find(letter)? as u32 + 1,
    };
    match letters.as_str() {
        "" | "iB" => Some(1024_u64.pow(power)),
        "B" => Some(1000_u64.pow(power)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{size, some};

    #[test]
    fn suffixes_are_those_of_coreutils() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("7B", 7),
            ("64K", 65536),
            ("64k", 65536),
            ("64KiB", 65536),
            ("64kB", 64000),
            ("10MB", 10_000_000),
            ("1G", 1 << 30),
            ("2TB", 2_000_000_000_000),
            ("15E", 15 << 60),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        for text in ["", "K", "-1", "+1", "1.5G", "1 K", "1Kib", "1KK", "1X", "0x10", "16E", "18446744073709551616"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(some("0K").is_err() && some("1").is_ok());
    }
}
