//! What the manual has of each program beyond its arguments: exit status, environment and examples.

/// The sections of one page.
pub(super) struct Sections {
    /// Each status, and what it says.
    pub(super) statuses: &'static [Row],
    /// Each variable, and what it is for.
    pub(super) environment: &'static [Row],
    /// What is done, and the command that does it.
    pub(super) examples: &'static [Row],
}

type Row = (&'static str, &'static str);

const WELL: Row = ("0", "Success.");
const WRONG: Row = ("1", "An error occurred, which a message describes.");
const PIPE: Row = ("141", "The reader of standard output has closed the pipe; 141 is how a shell shows SIGPIPE.");
const USUAL: &[Row] = &[WELL, WRONG, PIPE];

/// What `verify` and `diff` have in common.
const FOUND: &[Row] = &[
    ("0", "All files are as listed, and there are no others. Otherwise the sum of:"),
    ("1", "Something could not be read."),
    ("2", "A file has changed."),
    ("4", "A file is missing."),
    ("8", "A file was moved."),
    ("16", "A file is new."),
    PIPE,
];

const BACKEND: Row = (
    "MANYHASH_BACKEND",
    "Use this backend instead of the best one that the CPU has: avx512, avx2 or sse2 on x86-64, sve2 or neon on Arm, or \
     portable.",
);
const CACHE: Row =
    ("XDG_CACHE_HOME", "Keep the digest cache in manyhash/digests below this directory instead of below ~/.cache.");
const LOCALE: Row = (
    "LC_ALL, LC_CTYPE, LANG",
    "The first one that is set decides whether messages show names in UTF-8 as they are, or escape all but ASCII.",
);
const TEMPORARY: Row =
    ("TMPDIR", "Hold the lines for an output file in this directory instead of /tmp until all are there.");

const HASHING: &[Row] = &[BACKEND, LOCALE];
const KEEPING: &[Row] = &[BACKEND, CACHE, LOCALE, TEMPORARY];
const TALKING: &[Row] = &[LOCALE];
const ASKING: &[Row] = &[
    (
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, ...",
        "Sign requests as AWS's tools do. The files of settings and credentials, roles, SSO, processes, web identities, \
         and what containers and instances have are asked too.",
    ),
    ("AWS_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_CA_BUNDLE", "The service, unless options say it."),
    BACKEND,
    CACHE,
    LOCALE,
];

const CHECK: &[Row] = &[(
    "Serve a directory for a second, and check it:",
    "timeout --preserve-status 1 manyhash serve objects --listen 127.0.0.1:0 --admin none\nmanyhash store check objects",
)];

/// The sections of the page of this name.
pub(super) fn of(page: &str) -> Option<Sections> {
    let (statuses, environment, examples): (&[Row], &[Row], &[Row]) = match page {
        "manysum" => (
            &[WELL, ("1", "A file could not be read or, with --check, does not match."), PIPE],
            &[
                BACKEND,
                CACHE,
                LOCALE,
                TEMPORARY,
                ("POSIXLY_CORRECT", "When started as a program of coreutils, end the options at the first operand."),
            ],
            &[
                (
                    "Write the checksums of a directory to a file, and check them:",
                    "manysum -r photos -o SUMS\nmanysum -c SUMS",
                ),
                ("Compute two algorithms, reading each file once:", "manysum -a md5,sha256 photos/*.jpg"),
                (
                    "Hash the files that another program names:",
                    "find photos -name '*.jpg' -print0 | manysum --files-from - --from0",
                ),
                (
                    "Skip a directory of the tree, and all files of one kind:",
                    "manysum -r photos --exclude /raw --exclude '*.tmp'",
                ),
            ],
        ),
        "manyhash" => (
            USUAL,
            HASHING,
            &[
                ("Show the options of a subcommand:", "manyhash dups --help"),
                ("Measure how fast this machine hashes:", "manyhash speed --seconds 0.1 sha256"),
            ],
        ),
        "manyhash-completions" => (
            USUAL,
            TALKING,
            &[
                ("Complete in this shell, if it is bash:", "source <(manyhash completions bash manysum)"),
                (
                    "Complete in every new fish shell:",
                    "mkdir -p ~/.config/fish/completions\nmanyhash completions fish manysum > ~/.config/fish/completions/manysum.fish",
                ),
            ],
        ),
        "manyhash-dups" => (
            USUAL,
            KEEPING,
            &[
                ("Find files that exist more than once:", "manyhash dups photos backup"),
                ("Delete the files in backup that photos has too:", "manyhash dups photos backup --delete --yes"),
            ],
        ),
        "manyhash-install-links" => (
            USUAL,
            TALKING,
            &[("Install links in a directory that is first in PATH:", "mkdir -p ~/bin\nmanyhash install-links ~/bin")],
        ),
        "manyhash-known" => (
            USUAL,
            HASHING,
            &[(
                "Print the files of a directory that are not in a list:",
                "sha256sum photos/*.jpg > list\nmanyhash known build list -o set\nmanyhash known match set backup --unknown",
            )],
        ),
        "manyhash-known-build" => (
            USUAL,
            TALKING,
            &[(
                "Build one set from several lists:",
                "sha256sum photos/*.jpg > list\nsha256sum backup/*.jpg > other\nmanyhash known build list other -o set",
            )],
        ),
        "manyhash-known-match" => (
            USUAL,
            HASHING,
            &[(
                "Copy the unknown files:",
                "sha256sum backup/*.jpg > list\nmanyhash known build list -o set\nmkdir -p new\nmanyhash known match set photos --unknown -z | xargs -0 cp -t new",
            )],
        ),
        "manyhash-man" => (
            USUAL,
            TALKING,
            &[(
                "Install the pages for this user:",
                "mkdir -p ~/.local/share/man/man1\nmanyhash man ~/.local/share/man/man1",
            )],
        ),
        "manyhash-manifest" => (
            &[WELL, WRONG, ("2 and more", "Differences found by verify and diff; see their pages."), PIPE],
            KEEPING,
            &[(
                "Create a manifest, verify it, and bring it up to date:",
                "manyhash manifest create photos -o SUMS\nmanyhash manifest verify photos SUMS\nmanyhash manifest update photos SUMS",
            )],
        ),
        "manyhash-manifest-create" => (
            USUAL,
            KEEPING,
            &[
                (
                    "Use two algorithms and hashdeep's format:",
                    "manyhash manifest create photos -a md5,sha256 --format hashdeep -o SUMS",
                ),
                ("Write to standard output:", "manyhash manifest create photos"),
            ],
        ),
        "manyhash-manifest-update" => (
            USUAL,
            KEEPING,
            &[(
                "Bring a manifest up to date after a file has changed:",
                "manyhash manifest create photos -o SUMS\necho more >> photos/1.jpg\nmanyhash manifest update photos SUMS",
            )],
        ),
        "manyhash-manifest-verify" => (
            FOUND,
            &[BACKEND, LOCALE],
            &[(
                "Check that all files are as listed:",
                "manyhash manifest create photos -o SUMS\nmanyhash manifest verify photos SUMS",
            )],
        ),
        "manyhash-manifest-diff" => (
            FOUND,
            TALKING,
            &[(
                "Print how a copy differs; the exit status is 0 if it does not:",
                "manyhash manifest create photos -o here\nmanyhash manifest create photos -o there\nmanyhash manifest diff here there",
            )],
        ),
        "manyhash-s3" => (
            USUAL,
            HASHING,
            &[(
                "Print the ETag and a checksum of a file:",
                "manyhash s3 etag photos/1.jpg\nmanyhash s3 checksum photos/1.jpg",
            )],
        ),
        "manyhash-s3-checksum" => (
            USUAL,
            HASHING,
            &[
                (
                    "Print two checksums of files, reading each once:",
                    "manyhash s3 checksum -a crc32,sha256 photos/*.jpg",
                ),
                (
                    "Print the composite of an object in parts of 16 MiB:",
                    "manyhash s3 checksum -a sha256 --composite --part-size 16M photos/1.jpg",
                ),
            ],
        ),
        "manyhash-s3-download" => (
            &[WELL, ("1", "Something was not downloaded; a message says what, and why."), PIPE],
            ASKING,
            &[
                ("Download what is below a prefix:", "manyhash s3 download s3://bucket/photos restored"),
                ("Download an object:", "manyhash s3 download s3://bucket/photos/1.jpg restored/one.jpg"),
            ],
        ),
        "manyhash-s3-etag" => (
            &[WELL, ("1", "A file could not be read, or does not have the ETag of --like."), PIPE],
            HASHING,
            &[
                ("Print the ETags of files in parts of 16 MiB:", "manyhash s3 etag --part-size 16M photos/*.jpg"),
                (
                    "Check that a file has the ETag of an object, however it was uploaded:",
                    "manyhash s3 etag --like c4ca4238a0b923820dcc509a6f75849b photos/1.jpg",
                ),
            ],
        ),
        "manyhash-s3-ls" => (
            USUAL,
            ASKING,
            &[("Print the checksums of all objects below a prefix:", "manyhash s3 ls --checksums s3://bucket/photos/")],
        ),
        "manyhash-s3-sync" => (
            &[WELL, ("1", "Something was not compared, uploaded or deleted; a message says what, and why."), PIPE],
            ASKING,
            &[
                ("See what would be uploaded:", "manyhash s3 sync --dry-run photos s3://bucket/photos"),
                ("Upload what the bucket has not, or otherwise:", "manyhash s3 sync photos s3://bucket/photos"),
            ],
        ),
        "manyhash-s3-upload" => (
            &[WELL, ("1", "Something was not uploaded, or was not found to be right; a message says what."), PIPE],
            ASKING,
            &[
                ("Upload a directory:", "manyhash s3 upload photos s3://bucket/photos"),
                (
                    "Upload it with a list of what was uploaded, and verify the copy by that later:",
                    "manyhash s3 upload --manifest SUMS photos s3://bucket/photos\n\
                     manyhash s3 verify --download SUMS s3://bucket/photos",
                ),
                ("Upload what a program writes:", "tar c photos | manyhash s3 upload - s3://bucket/photos.tar"),
            ],
        ),
        "manyhash-s3-verify" => (
            &[
                ("0", "Both sides are the same. Otherwise the sum of:"),
                ("1", "Something could not be read."),
                ("2", "An object differs."),
                ("4", "An object is missing: only the first side has it."),
                ("16", "An object is extra: only the second side has it."),
                ("32", "An object is unverified."),
                PIPE,
            ],
            ASKING,
            &[
                ("Prove that a bucket holds what a directory does:", "manyhash s3 verify photos s3://bucket/photos"),
                ("See first what that takes:", "manyhash s3 verify --dry-run photos s3://bucket/photos"),
                (
                    "Compare a bucket with a manifest, downloading what S3 knows no such digest of:",
                    "manyhash manifest create photos -o SUMS\nmanyhash s3 verify --download SUMS s3://bucket/photos",
                ),
                ("Go on after an interruption:", "manyhash s3 verify --state verified photos s3://bucket/photos"),
            ],
        ),
        "manyhash-serve" => (
            USUAL,
            &[
                ("MANYHASH_LISTEN, MANYHASH_KEYS, ...", "Set the option of the same name. Options take precedence."),
                BACKEND,
                LOCALE,
            ],
            &[(
                "Serve a directory at a free port, for a second:",
                "timeout --preserve-status 1 manyhash serve objects --listen 127.0.0.1:0 --admin none",
            )],
        ),
        "manyhash-simulate" => (
            USUAL,
            HASHING,
            &[(
                "Simulate a hundred uploads hashed with MD5, in chunks of 64 KiB, and chart them:",
                "manyhash simulate --hash md5 --producers 100 --chunk-size 64K --total-size 16M --report report.html",
            )],
        ),
        "manyhash-speed" => (
            USUAL,
            HASHING,
            &[
                ("Measure two algorithms:", "manyhash speed --seconds 0.1 md5 sha256"),
                ("Measure with another backend:", "MANYHASH_BACKEND=portable manyhash speed --seconds 0.1 md5"),
            ],
        ),
        "manyhash-store" => (USUAL, HASHING, CHECK),
        "manyhash-store-check" => {
            (&[WELL, ("1", "The store is damaged or could not be read; a message says where."), PIPE], HASHING, CHECK)
        }
        _ => return None,
    };
    Some(Sections { statuses, environment, examples })
}
