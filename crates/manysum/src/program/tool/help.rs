//! What the tools say of themselves.

use super::{Kind, Tool};
use crate::lists::line;

const LENGTH: &str = "  \
  -l, --length=BITS     digest length in bits for BLAKE2b: a multiple of 8, at most 512;
                        with --check, each line shows its own length
";

/// Of `cksum`, whose families have one too.
const FAMILIES: &str = "                        \
                        for sha2 and sha3, it must be 224, 256, 384 or 512
";

const CKSUM: &str = "  \
  -a, --algorithm=TYPE  digest algorithm: crc (the default), bsd, sysv, crc32b, md5, sha1, sha224,
                        sha256, sha384, sha512, sha2, sha3, blake2b or sm3
      --base64          print digests in base64 instead of hexadecimal
      --raw             print the raw bytes of one file's digest, and nothing else
      --tag             print BSD-style lines, MD5 (FILE) = CHECKSUM; the default except for
                        crc, bsd, sysv and crc32b, which print CHECKSUM LENGTH FILE
      --untagged        print CHECKSUM  FILE, without a tag
      --debug           print which vector instructions are used, if any
";

impl Tool {
    pub(super) fn help(self) -> String {
        let name = self.name;
        let tag = match self.kind {
            Kind::Sum(algorithm) => line::tag(algorithm.into()),
            Kind::B2sum => "BLAKE2b".to_owned(),
            Kind::Cksum => "CRC or other".to_owned(),
        };
        let modes = format!(
            "  \
  -b, --binary          print an asterisk before the name; files are read the same way with -t
  -t, --text            print a space before the name; the default
      --tag             print BSD-style lines, {tag} (FILE) = CHECKSUM
"
        );
        let own = match self.kind {
            Kind::Sum(_) => modes,
            Kind::B2sum => modes + LENGTH,
            Kind::Cksum => [CKSUM, LENGTH, FAMILIES].concat(),
        };
        format!(
            "\
Usage: {name} [OPTION]... [FILE]...
Print or check {tag} checksums. This is manysum started as {name};
it accepts and prints what {name} of GNU coreutils does.

With no FILE, or when FILE is -, read standard input.

{own}  -z, --zero            end each line with NUL instead of a newline, and do not escape names
  -c, --check           read checksums from the FILEs and check them

With --check only:
      --ignore-missing  skip files that do not exist
      --quiet           do not print OK for files that match
      --status          print nothing for any file; the exit status shows success
      --strict          fail on improperly formatted lines too
  -w, --warn            warn about each improperly formatted line

      --help            print this help and exit
      --version         print the version and exit

The exit status is 0 on success and, with --check, if every file matches; otherwise it is 1.
"
        )
    }
}
