//! Figures as people read them.

/// A number and a noun, `1 core` or `2 cores`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Three digits at least, in the first of the units, largest first, that the value reaches.
pub fn scaled(value: f64, units: [(f64, &str); 3]) -> String {
    let (unit, name) = units.into_iter().find(|(unit, _)| value >= *unit).unwrap_or(units[2]);
    match value / unit {
        value @ 100.0.. => format!("{value:.0} {name}"),
        value @ 10.0.. => format!("{value:.1} {name}"),
        value => format!("{value:.2} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn rates_have_three_digits() {
        let rate = |value| scaled(value, [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")]);
        assert_eq!([rate(1.2345e10), rate(1.2345e9), rate(1.2345e8)], ["12.3 GB/s", "1.23 GB/s", "123 MB/s"]);
        assert_eq!([rate(12345.0), rate(1.0)], ["12.3 kB/s", "0.00 kB/s"]);
    }
}
