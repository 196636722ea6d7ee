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

const WELL: Row = ("0", "All went well.");
const WRONG: Row = ("1", "Something went wrong, and a message says what.");
const PIPE: Row = ("141", "As a shell shows it: standard output was a pipe that nobody reads any more (SIGPIPE).");
const USUAL: &[Row] = &[WELL, WRONG, PIPE];

/// What `verify` and `diff` have in common.
const FOUND: &[Row] = &[
    ("0", "All is as listed, and there is nothing else. Otherwise the sum of:"),
    ("1", "Something could not be read."),
    ("2", "Something has changed."),
    ("4", "Something is missing."),
    ("8", "Something was moved."),
    ("16", "Something is new."),
    PIPE,
];

const BACKEND: Row = (
    "MANYHASH_BACKEND",
    "The vectors to hash with, in place of the best ones that the processor has: avx512, avx2 or sse2 on x86-64, sve2 or neon on Arm, or portable.",
);
const CACHE: Row =
    ("XDG_CACHE_HOME", "Where the digest cache is, in manyhash/digests; without it, in .cache of the home directory.");
const LOCALE: Row = (
    "LC_ALL, LC_CTYPE, LANG",
    "The first of them that is set says whether messages show names in UTF-8 as they are, or escape all but ASCII.",
);
const TEMPORARY: Row =
    ("TMPDIR", "Where lines are held that go to a file, until they all are there; without it, /tmp.");

const HASHING: &[Row] = &[BACKEND, LOCALE];
const KEEPING: &[Row] = &[BACKEND, CACHE, LOCALE, TEMPORARY];
const TALKING: &[Row] = &[LOCALE];

/// The sections of the page of this name.
pub(super) fn of(page: &str) -> Option<Sections> {
    let (statuses, environment, examples): (&[Row], &[Row], &[Row]) = match page {
        "manysum" => (
            &[WELL, ("1", "Something could not be read or, with --check, is not as listed."), PIPE],
            &[
                BACKEND,
                CACHE,
                LOCALE,
                TEMPORARY,
                ("POSIXLY_CORRECT", "Under the name of a tool of coreutils: options end with the first operand."),
            ],
            &[
                ("List the checksums of a directory, and check them:", "manysum -r photos -o SUMS\nmanysum -c SUMS"),
                ("Two algorithms, reading each file once:", "manysum -a md5,sha256 photos/*.jpg"),
                (
                    "Only some files, as named by another program:",
                    "find photos -name '*.jpg' -print0 | manysum --files-from - --from0",
                ),
                (
                    "Leave out a directory of the tree, and all of one kind:",
                    "manysum -r photos --exclude /raw --exclude '*.tmp'",
                ),
            ],
        ),
        "manyhash" => (
            USUAL,
            HASHING,
            &[
                ("What a tool takes:", "manyhash dups --help"),
                ("How fast this machine hashes:", "manyhash speed --seconds 0.1 sha256"),
            ],
        ),
        "manyhash-completions" => (
            USUAL,
            TALKING,
            &[
                ("In this shell, if it is bash:", "source <(manyhash completions bash manysum)"),
                (
                    "For fish, from now on:",
                    "mkdir -p ~/.config/fish/completions\nmanyhash completions fish manysum > ~/.config/fish/completions/manysum.fish",
                ),
            ],
        ),
        "manyhash-dups" => (
            USUAL,
            KEEPING,
            &[
                ("Which files are there more than once:", "manyhash dups photos backup"),
                ("Delete copies in backup of what photos has:", "manyhash dups photos backup --delete --yes"),
            ],
        ),
        "manyhash-install-links" => (
            USUAL,
            TALKING,
            &[("In a directory that comes first in PATH:", "mkdir -p ~/bin\nmanyhash install-links ~/bin")],
        ),
        "manyhash-known" => (
            USUAL,
            HASHING,
            &[(
                "Which files of a directory are not in a list:",
                "sha256sum photos/*.jpg > list\nmanyhash known build list -o set\nmanyhash known match set backup --unknown",
            )],
        ),
        "manyhash-known-build" => (
            USUAL,
            TALKING,
            &[(
                "One set of several lists:",
                "sha256sum photos/*.jpg > list\nsha256sum backup/*.jpg > other\nmanyhash known build list other -o set",
            )],
        ),
        "manyhash-known-match" => (
            USUAL,
            HASHING,
            &[(
                "Copy what is not known:",
                "sha256sum backup/*.jpg > list\nmanyhash known build list -o set\nmkdir -p new\nmanyhash known match set photos --unknown -z | xargs -0 cp -t new",
            )],
        ),
        "manyhash-man" => (
            USUAL,
            TALKING,
            &[("For this user:", "mkdir -p ~/.local/share/man/man1\nmanyhash man ~/.local/share/man/man1")],
        ),
        "manyhash-manifest" => (
            &[WELL, WRONG, ("2 and more", "What verify and diff have found; their pages say it."), PIPE],
            KEEPING,
            &[(
                "Make a manifest, look whether all is as it says, and bring it up to date:",
                "manyhash manifest create photos -o SUMS\nmanyhash manifest verify photos SUMS\nmanyhash manifest update photos SUMS",
            )],
        ),
        "manyhash-manifest-create" => (
            USUAL,
            KEEPING,
            &[
                (
                    "With two algorithms, in hashdeep's format:",
                    "manyhash manifest create photos -a md5,sha256 --format hashdeep -o SUMS",
                ),
                ("To standard output:", "manyhash manifest create photos"),
            ],
        ),
        "manyhash-manifest-update" => (
            USUAL,
            KEEPING,
            &[(
                "After some files have changed:",
                "manyhash manifest create photos -o SUMS\necho more >> photos/1.jpg\nmanyhash manifest update photos SUMS",
            )],
        ),
        "manyhash-manifest-verify" => (
            FOUND,
            &[BACKEND, LOCALE],
            &[(
                "Look whether all is as listed:",
                "manyhash manifest create photos -o SUMS\nmanyhash manifest verify photos SUMS",
            )],
        ),
        "manyhash-manifest-diff" => (
            FOUND,
            TALKING,
            &[(
                "What a copy lacks or has changed, 0 if nothing:",
                "manyhash manifest create photos -o here\nmanyhash manifest create photos -o there\nmanyhash manifest diff here there",
            )],
        ),
        "manyhash-simulate" => (
            USUAL,
            HASHING,
            &[(
                "A hundred uploads of MD5, in chunks of 64 KiB, with a page of charts:",
                "manyhash simulate --hash md5 --producers 100 --chunk-size 64K --total-size 16M --report report.html",
            )],
        ),
        "manyhash-speed" => (
            USUAL,
            HASHING,
            &[
                ("Two algorithms:", "manyhash speed --seconds 0.1 md5 sha256"),
                ("The same with narrower vectors:", "MANYHASH_BACKEND=portable manyhash speed --seconds 0.1 md5"),
            ],
        ),
        _ => return None,
    };
    Some(Sections { statuses, environment, examples })
}
