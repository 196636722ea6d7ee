//! The names of algorithms and backends, as users spell them.

use manyhash_core::{Algorithm, Backend, BackendError, Kernels, Sha1, Sha3_256, Sha256, Sha512, UnknownAlgorithmError};

#[test]
fn algorithms_are_parsed_in_the_spellings_in_use() {
    let spellings: [(Algorithm, &[&str]); 14] = [
        (Algorithm::Md5, &["md5", "MD5", "Md5", "md-5", "MD-5"]),
        (Algorithm::Sha1, &["sha1", "SHA1", "sha-1", "SHA-1"]),
        (Algorithm::Sha224, &["sha224", "SHA224", "sha-224", "SHA-224"]),
        (Algorithm::Sha256, &["sha256", "SHA256", "Sha256", "sha-256", "SHA-256", "SHA2-256", "sHa256"]),
        (Algorithm::Sha384, &["sha384", "SHA384", "sha-384", "SHA-384"]),
        (Algorithm::Sha512, &["sha512", "SHA512", "sha-512", "SHA-512"]),
        (
            Algorithm::Sha512_256,
            &["sha512-256", "sha512/256", "sha512_256", "SHA512-256", "SHA512/256", "SHA-512/256", "sha-512-256"],
        ),
        (Algorithm::Sha3_224, &["sha3-224", "SHA3-224", "sha3_224"]),
        (Algorithm::Sha3_256, &["sha3-256", "SHA3-256", "sha3_256"]),
        (Algorithm::Sha3_384, &["sha3-384", "SHA3-384", "sha3_384"]),
        (Algorithm::Sha3_512, &["sha3-512", "SHA3-512", "sha3_512"]),
        (Algorithm::Keccak256, &["keccak256", "KECCAK-256", "Keccak256"]),
        (Algorithm::Sm3, &["sm3", "SM3"]),
        (Algorithm::Ripemd160, &["ripemd160", "rmd160", "RIPEMD160", "RIPEMD-160"]),
    ];
    assert_eq!(spellings.map(|(algorithm, _)| algorithm), Algorithm::ALL);
    for (algorithm, spellings) in spellings {
        for spelling in spellings {
            assert_eq!(spelling.parse(), Ok(algorithm), "{spelling}");
        }
    }
}

#[test]
fn algorithms_that_are_none_are_errors() {
    let names = [
        "",
        "-",
        "sha",
        "sha2-56",
        "m/d5",
        "-sha256",
        "md4",
        "md55",
        "sha2",
        "sha3",
        "sha3-128",
        "sha512/224",
        "sha2566",
        "xsha256",
        " sha256",
        "sha256 ",
    ];
    for name in names {
        assert_eq!(name.parse::<Algorithm>(), Err(UnknownAlgorithmError), "{name:?}");
    }
    // No case folding beyond ASCII: U+017F is a long s.
    assert_eq!("\u{17F}ha256".parse::<Algorithm>(), Err(UnknownAlgorithmError));
}

#[test]
fn algorithms_name_themselves() {
    for algorithm in Algorithm::ALL.iter().copied() {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
        assert_eq!(algorithm.to_string(), algorithm.name());
        assert_eq!(format!("{algorithm:>12}").len(), 12);
        assert!(UnknownAlgorithmError.to_string().contains(algorithm.name()), "{UnknownAlgorithmError}");
    }
}

#[test]
fn available_backends_are_found_by_name() {
    let available: Vec<Backend> = Backend::available().collect();
    assert_eq!(available.first().map(|backend| backend.name()), Some("portable"));
    assert_eq!(available.last(), Some(&Backend::detect()));
    for backend in available {
        assert_eq!(Backend::named(backend.name()), Ok(backend));
        assert_eq!(backend.to_string(), backend.name());
        assert_eq!(format!("{backend:>12}").len(), 12);
    }
}

#[test]
fn backends_that_the_cpu_lacks_are_unsupported() {
    for name in ["portable", "sse2", "avx2", "avx512", "neon", "sve2"] {
        let available = Backend::available().find(|backend| backend.name() == name);
        assert_eq!(Backend::named(name), available.ok_or(BackendError::Unsupported), "{name}");
    }
}

#[test]
fn backends_of_no_tier_are_unknown() {
    for name in ["", "AVX2", "avx", "avx-512", "avx2 ", "scalar", "no such tier"] {
        assert_eq!(Backend::named(name), Err(BackendError::Unknown), "{name:?}");
    }
}

#[test]
fn backend_errors_say_what_to_do() {
    let unknown = BackendError::Unknown.to_string();
    for backend in Backend::available() {
        assert!(unknown.contains(backend.name()), "{unknown}");
    }
    assert_ne!(unknown, BackendError::Unsupported.to_string());
}

/// Which belong to no tier, so that the tests of a tier would pass without them.
#[test]
fn instructions_of_an_algorithm_are_used_where_the_cpu_has_them() {
    #[cfg(target_arch = "x86_64")]
    macro_rules! has {
        ($feature:tt) => {
            if cfg!(feature = "std") {
                std::arch::is_x86_feature_detected!($feature)
            } else {
                cfg!(target_feature = $feature)
            }
        };
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! has {
        ($feature:tt) => {
            if cfg!(feature = "std") {
                std::arch::is_aarch64_feature_detected!($feature)
            } else {
                cfg!(target_feature = $feature)
            }
        };
    }
    #[cfg(target_arch = "x86_64")]
    let (name, has_32, has_64) = ("sha-ni", has!("sha"), false);
    #[cfg(target_arch = "aarch64")]
    let (name, has_32, has_64) = ("arm-sha", has!("sha2"), has!("sha3"));
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let (name, has_32, has_64) = ("none", false, false);
    fn uses<F: Kernels>(backend: Backend, name: &str) -> bool {
        let set = F::kernels(backend);
        let (is_kernel, is_short) = (set.iter().any(|k| k.name() == name), set.short().any(|k| k.name() == name));
        assert_eq!(is_kernel, is_short);
        is_kernel
    }
    for backend in Backend::available() {
        let is_portable = backend.name() == "portable";
        assert_eq!(uses::<Sha1>(backend, name), has_32 && !is_portable, "{backend}");
        assert_eq!(uses::<Sha256>(backend, name), has_32 && !is_portable, "{backend}");
        assert_eq!(uses::<Sha512>(backend, name), has_64 && !is_portable, "{backend}");
        assert_eq!(uses::<Sha3_256>(backend, name), has_64 && !is_portable, "{backend}");
    }
}
