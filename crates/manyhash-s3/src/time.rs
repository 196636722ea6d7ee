//! The forms in which S3 writes a moment: one for signatures, one for XML, one for HTTP's headers.
//!
//! All are in UTC. Fractions of a second are cut off where a form has no place for them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::Offset;

/// Why text is not a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a moment in the form `{form}`")]
#[non_exhaustive]
pub struct InvalidTimeError {
    /// What would have been read.
    form: &'static str,
}

/// Writes the moment of a signature, as in `20130524T000000Z`.
pub fn amz_date(moment: Timestamp) -> String {
    let utc = utc(moment);
    format!("{}T{:02}{:02}{:02}Z", day(utc), utc.hour(), utc.minute(), utc.second())
}

/// Writes the day of a signature's scope, as in `20130524`.
pub fn amz_day(moment: Timestamp) -> String {
    day(utc(moment))
}

/// Reads the moment of a signature.
///
/// # Errors
/// Returns an error unless `text` has exactly the form `20130524T000000Z` and is a moment.
pub fn parse_amz_date(text: &str) -> Result<Timestamp, InvalidTimeError> {
    let error = InvalidTimeError { form: "20130524T000000Z" };
    let bytes: &[u8; 16] = text.as_bytes().try_into().map_err(|_| error)?;
    let &[y0, y1, y2, y3, m0, m1, d0, d1, b'T', h0, h1, n0, n1, s0, s1, b'Z'] = bytes else { return Err(error) };
    let two = |digits: [u8; 2]| number(&digits).and_then(|n| i8::try_from(n).ok()).ok_or(error);
    let year = number(&[y0, y1, y2, y3]).ok_or(error)?;
    let civil = DateTime::new(year, two([m0, m1])?, two([d0, d1])?, two([h0, h1])?, two([n0, n1])?, two([s0, s1])?, 0);
    civil.and_then(|civil| Offset::UTC.to_timestamp(civil)).map_err(|_| error)
}

/// Writes a moment in XML, with milliseconds, as in `2009-10-12T17:50:30.000Z`.
pub fn iso8601(moment: Timestamp) -> String {
    let utc = utc(moment);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        utc.year(),
        utc.month(),
        utc.day(),
        utc.hour(),
        utc.minute(),
        utc.second(),
        utc.millisecond()
    )
}

/// Reads a moment in XML, with any number of digits of a second, and any offset.
///
/// # Errors
/// Returns an error if `text` has another form, or is no moment.
pub fn parse_iso8601(text: &str) -> Result<Timestamp, InvalidTimeError> {
    text.parse().map_err(|_| InvalidTimeError { form: "2009-10-12T17:50:30.000Z" })
}

/// Writes a moment in a header, as in `Wed, 12 Oct 2009 17:50:00 GMT` (RFC 9110, section 5.6.7: IMF-fixdate).
pub fn http_date(moment: Timestamp) -> String {
    let utc = utc(moment);
    format!(
        "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
        strtime_name("%a", utc),
        utc.day(),
        strtime_name("%b", utc),
        utc.year(),
        utc.hour(),
        utc.minute(),
        utc.second()
    )
}

/// Reads a moment in a header: HTTP's form, and its two old ones, those of RFC 850 and of C's `asctime`.
///
/// The day of the week is not checked. Of two digits of a year, those below 69 are after 2000.
///
/// # Errors
/// Returns an error if `text` has none of the forms, or is no moment.
pub fn parse_http_date(text: &str) -> Result<Timestamp, InvalidTimeError> {
    const PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    let text = text.trim_ascii();
    let old = |form, after_weekday: char| {
        let (_, rest) = text.split_once(after_weekday)?;
        let civil = strtime::parse(form, rest).ok()?.to_datetime().ok()?;
        Offset::UTC.to_timestamp(civil).ok()
    };
    PARSER
        .parse_timestamp(text)
        .ok()
        .or_else(|| old("%n%d-%b-%y %H:%M:%S GMT", ','))
        .or_else(|| old("%n%b %e %H:%M:%S %Y", ' '))
        .ok_or(InvalidTimeError { form: "Sun, 06 Nov 1994 08:49:37 GMT" })
}

fn utc(moment: Timestamp) -> DateTime {
    Offset::UTC.to_datetime(moment)
}

fn day(utc: DateTime) -> String {
    format!("{:04}{:02}{:02}", utc.year(), utc.month(), utc.day())
}

fn strtime_name(form: &str, utc: DateTime) -> String {
    utc.strftime(form).to_string()
}

/// The number that some digits are, if they are digits.
fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0, |number: i16, digit| {
        let digit = digit.is_ascii_digit().then(|| i16::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn forms() {
        let moment = at("2013-05-24T00:00:00Z");
        assert_eq!(amz_date(moment), "20130524T000000Z");
        assert_eq!(amz_day(moment), "20130524");
        assert_eq!(iso8601(moment), "2013-05-24T00:00:00.000Z");
        assert_eq!(http_date(moment), "Fri, 24 May 2013 00:00:00 GMT");
        assert_eq!(parse_amz_date("20130524T000000Z"), Ok(moment));
        assert_eq!(parse_iso8601("2013-05-24T02:00:00.000000+02:00"), Ok(moment));
        // The example of RFC 9110, in its three forms.
        let moment = at("1994-11-06T08:49:37Z");
        assert_eq!(http_date(moment), "Sun, 06 Nov 1994 08:49:37 GMT");
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            " Sun, 06 Nov 1994 08:49:37 GMT ",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 +0000",
            "6 Nov 1994 08:49:37 GMT",
            "Sun Nov 16 08:49:37 1994",
        ] {
            let expected = if text.contains("16") { at("1994-11-16T08:49:37Z") } else { moment };
            assert_eq!(parse_http_date(text), Ok(expected), "{text}");
        }
        assert_eq!(parse_http_date("Sunday, 06-Nov-33 08:49:37 GMT"), Ok(at("2033-11-06T08:49:37Z")));
    }

    #[test]
    fn what_is_no_moment() {
        for text in [
            "",
            "20130524",
            "20130524T000000",
            "20130524T000000z",
            "20131324T000000Z",
            "20130532T000000Z",
            "20130524T240000Z",
            "20130524T006000Z",
            "2013052+T000000Z",
            "2013-05-24T00:0Z",
            "20130524T000000ZZ",
            "２０1305T000000Z",
        ] {
            assert!(parse_amz_date(text).is_err(), "{text}");
        }
        for text in ["", "yesterday", ",", "Sunday, ", "Sun ", "Sun, 31 Feb 1994 08:49:37 GMT", "((((((", "1994"] {
            assert!(parse_http_date(text).is_err(), "{text}");
        }
        assert!(parse_iso8601("2013-05-24").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_read(seconds in -62_167_219_200i64..253_402_207_200, millis in 0i64..1000) {
            let whole = Timestamp::from_second(seconds).unwrap();
            let moment = Timestamp::from_millisecond(seconds * 1000 + millis).unwrap();
            prop_assert_eq!(parse_amz_date(&amz_date(moment)), Ok(whole));
            prop_assert_eq!(parse_iso8601(&iso8601(moment)), Ok(moment));
            // HTTP's form is read as that of mail, where years have meant others for long.
            if seconds >= -2_208_988_800 {
                prop_assert_eq!(parse_http_date(&http_date(moment)), Ok(whole));
            }
        }

        #[test]
        fn nothing_panics(text in ".*", seconds in Timestamp::MIN.as_second()..=Timestamp::MAX.as_second()) {
            let _ = (parse_amz_date(&text), parse_iso8601(&text), parse_http_date(&text));
            let moment = Timestamp::from_second(seconds).unwrap();
            let _ = (amz_date(moment), iso8601(moment), http_date(moment));
        }
    }
}
