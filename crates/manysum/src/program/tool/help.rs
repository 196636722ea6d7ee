//! What the tools say of themselves.

use super::{Kind, Tool};
use crate::lists::line;

const LENGTH: &str = "  \
  -l, --length=BITS     make digests of BLAKE2b so long: a multiple of 8, at most 512; with --check,
                        each line has its own length
";

/// Of `cksum`, whose families have one too.
const FAMILIES: &str = "                        \
                        of sha2 and sha3 it has to be 224, 256, 384 or 512
";

const CKSUM: &str = "  \
  -a, --algorithm=TYPE  the algorithm: crc (the default), bsd, sysv, crc32b, md5, sha1, sha224,
                        sha256, sha384, sha512, sha2, sha3, blake2b or sm3
      --base64          print digests in base64 instead of hexadecimal
      --raw             print the digest of one file as its bytes, and nothing else
      --tag             print lines in BSD's form, MD5 (FILE) = CHECKSUM; the default but for
                        crc, bsd, sysv and crc32b, whose lines are CHECKSUM LENGTH FILE
      --untagged        print lines as CHECKSUM  FILE
      --debug           say which vectors are used, if any are
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
  -b, --binary          put an asterisk before the name: read as binary, which is the same here
  -t, --text            put a space there; the default
      --tag             print lines in BSD's form, {tag} (FILE) = CHECKSUM
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
Print {tag} checksums of FILEs, or check them. This is manysum under the name {name};
what it prints and accepts is what {name} of GNU coreutils does.

With no FILE, or when FILE is -, standard input is read.

{own}  -z, --zero            end lines with NUL instead of a newline, and escape no names
  -c, --check           take the FILEs for lists of checksums, and check them

With --check only:
      --ignore-missing  pass over files that do not exist
      --quiet           print nothing for files that are as listed
      --status          print nothing for any file: the exit status tells
      --strict          fail for lines that are improperly formatted too
  -w, --warn            say which lines are improperly formatted

      --help            print this help and exit
      --version         print the version and exit

The exit status is 0 if all went well and, with --check, every file is as listed; else 1.
"
        )
    }
}
