//! Which failures are tried again, when, and how often: AWS's standard mode.
//!
//! An attempt waits for a random time below 1, 2, 4 and so on seconds, at most 20. Attempts after the first are paid from
//! a budget that all requests share and that answers fill again, so that a service which fails altogether does not get
//! a multiple of the load (AWS SDKs and Tools reference: "Retry behavior").

use http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use manyhash_s3::time::parse_http_date;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How failures are tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The most attempts of one request, at least 1.
    pub attempts: u32,
    /// The most that the second attempt waits. It doubles from one attempt to the next.
    pub base: Duration,
    /// The most that any attempt waits, unless the service asks for more.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy { attempts: 3, base: Duration::from_secs(1), cap: Duration::from_secs(20) }
    }
}

/// The most that is waited because the service asks for it.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

impl RetryPolicy {
    /// The wait before the attempt after `attempt`. `random` is from 0 to 1.
    pub(super) fn wait(&self, attempt: u32, asked: Option<Duration>, random: f64) -> Duration {
        let doubled = 2u32.saturating_pow(attempt.saturating_sub(1));
        let most = self.base.saturating_mul(doubled).min(self.cap);
        most.mul_f64(random.clamp(0.0, 1.0)).max(asked.unwrap_or_default().min(MAX_RETRY_AFTER))
    }
}

/// What to do about a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Nothing: it would fail again.
    Final,
    /// Try again.
    Transient,
    /// Try again, and send less at once.
    Throttled,
    /// Try again, which costs more: whatever is this slow is short of something.
    Timeout,
}

/// Tells what to do about a refusal.
pub(super) fn classify(status: StatusCode, code: &str) -> Class {
    match code {
        "SlowDown"
        | "ServiceUnavailable"
        | "Throttling"
        | "ThrottlingException"
        | "RequestLimitExceeded"
        | "BandwidthLimitExceeded"
        | "RequestThrottled"
        | "TooManyRequests"
        | "TooManyRequestsException"
        | "ProvisionedThroughputExceededException"
        | "PriorRequestNotComplete" => Class::Throttled,
        "RequestTimeout" | "RequestTimeoutException" => Class::Timeout,
        // The last is a conflict with another write of the same key.
        "InternalError" | "InternalServerError" | "IncompleteBody" | "OperationAborted" => Class::Transient,
        "NotImplemented" => Class::Final,
        _ => match status.as_u16() {
            429 | 503 => Class::Throttled,
            500 | 502 | 504 => Class::Transient,
            _ => Class::Final,
        },
    }
}

/// Reads how long the service asks to wait: the header `Retry-After`, seconds or a date.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    Some(Duration::try_from(parse_http_date(value).ok()?.duration_since(now)).unwrap_or_default())
}

/// What all requests together may spend on further attempts.
#[derive(Debug)]
pub(super) struct Budget(AtomicU32);

const BUDGET: u32 = 500;

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(AtomicU32::new(BUDGET))
    }

    /// Pays for an attempt, if there is enough left, and returns the price.
    pub(super) fn spend(&self, class: Class) -> Option<u32> {
        let price = if class == Class::Timeout { 10 } else { 5 };
        let spent = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(price));
        spent.ok().map(|_| price)
    }

    /// Notes an answer: the attempt that got it is paid back, and one that was the first brings a little.
    pub(super) fn earn(&self, paid: Option<u32>) {
        let add = |left: u32| Some(left.saturating_add(paid.unwrap_or(1)).min(BUDGET));
        // It never refuses.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits() {
        let policy = RetryPolicy::default();
        for (attempt, most) in [(1, 1), (2, 2), (3, 4), (5, 16), (6, 20), (7, 20), (u32::MAX, 20)] {
            assert_eq!(policy.wait(attempt, None, 1.0), Duration::from_secs(most), "{attempt}");
            assert_eq!(policy.wait(attempt, None, 0.0), Duration::ZERO);
        }
        assert_eq!(policy.wait(1, None, 0.25), Duration::from_millis(250));
        assert_eq!(policy.wait(1, Some(Duration::from_secs(30)), 0.5), Duration::from_secs(30));
        assert_eq!(policy.wait(6, Some(Duration::from_secs(3)), 1.0), Duration::from_secs(20));
        assert_eq!(policy.wait(1, Some(Duration::MAX), 0.5), MAX_RETRY_AFTER);
    }

    #[test]
    fn classes() {
        for (status, code, class) in [
            (503, "SlowDown", Class::Throttled),
            (200, "SlowDown", Class::Throttled),
            (503, "", Class::Throttled),
            (429, "Whatever", Class::Throttled),
            (500, "InternalError", Class::Transient),
            (200, "InternalError", Class::Transient),
            (502, "", Class::Transient),
            (504, "", Class::Transient),
            (400, "RequestTimeout", Class::Timeout),
            (501, "NotImplemented", Class::Final),
            (403, "AccessDenied", Class::Final),
            (404, "NoSuchKey", Class::Final),
            (200, "InvalidPart", Class::Final),
        ] {
            assert_eq!(classify(StatusCode::from_u16(status).unwrap(), code), class, "{status} {code}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = "2026-11-22T12:00:00Z".parse().unwrap();
        let read = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, value.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(read("Sun, 22 Nov 2026 12:00:05 GMT"), Some(Duration::from_secs(5)));
        assert_eq!(read("Sun, 22 Nov 2026 11:00:05 GMT"), Some(Duration::ZERO));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-1"), None);
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn a_budget_ends_and_fills() {
        let budget = Budget::new();
        for _ in 0..50 {
            assert_eq!(budget.spend(Class::Transient), Some(5));
        }
        for _ in 0..25 {
            assert_eq!(budget.spend(Class::Timeout), Some(10));
        }
        assert_eq!(budget.spend(Class::Throttled), None);
        for _ in 0..4 {
            budget.earn(None);
        }
        assert_eq!(budget.spend(Class::Transient), None);
        budget.earn(None);
        assert_eq!(budget.spend(Class::Transient), Some(5));
        budget.earn(Some(5));
        assert_eq!(budget.spend(Class::Transient), Some(5));
        (0..1000).for_each(|_| budget.earn(None));
        assert_eq!(budget.0.load(Ordering::Relaxed), BUDGET);
    }
}
