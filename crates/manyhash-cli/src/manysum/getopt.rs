//! Options as GNU `getopt_long` reads them, of the kind that the tools of coreutils have: none takes an argument.
//!
//! - Operands and options may come in any order, unless `POSIXLY_CORRECT` is set; then, and after `--`, the rest are
//!   operands.
//! - `-cw` is `-c -w`.
//! - A long option may be abbreviated as long as it is no other's beginning too.

use crate::name;
use std::ffi::OsString;

/// An option.
pub(super) struct Spec<T> {
    /// After `--`.
    pub(super) long: &'static str,
    /// After `-`, if it has a short form.
    pub(super) short: Option<u8>,
    /// What it means.
    pub(super) value: T,
}

/// What an argument is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Argument<T> {
    Option(T),
    Operand(OsString),
}

/// The arguments of a command line.
///
/// An iterator, so that an option may end the program before the arguments after it are looked at.
pub(super) struct Arguments<'a, T, I> {
    specs: &'a [Spec<T>],
    arguments: I,
    /// The short options that remain of one argument, the next of them last.
    cluster: Vec<u8>,
    /// Whether all that follows are operands.
    only_operands: bool,
    /// Whether the first operand ends the options.
    posix: bool,
}

impl<'a, T: Copy, I: Iterator<Item = OsString>> Arguments<'a, T, I> {
    /// Those of `arguments`, the program's name left out. `posix` is whether `POSIXLY_CORRECT` is set.
    pub(super) fn new(specs: &'a [Spec<T>], arguments: I, posix: bool) -> Self {
        Arguments { specs, arguments, cluster: Vec::new(), only_operands: false, posix }
    }

    /// The option of an argument without its `--`.
    fn long(&self, text: &[u8]) -> Result<T, Vec<u8>> {
        let (name, given) = match text.iter().position(|&byte| byte == b'=') {
            Some(end) => (&text[..end], true),
            None => (text, false),
        };
        let exact = self.specs.iter().find(|spec| spec.long.as_bytes() == name);
        let begins = |spec: &&Spec<T>| spec.long.as_bytes().starts_with(name);
        let found: Vec<_> = match exact {
            Some(spec) => vec![spec],
            None => self.specs.iter().filter(begins).collect(),
        };
        match found[..] {
            [] => Err([b"unrecognized option '--", text, b"'"].concat()),
            [spec] if given => Err(format!("option '--{}' doesn't allow an argument", spec.long).into_bytes()),
            [spec] => Ok(spec.value),
            _ => {
                let possibilities: String = found.iter().map(|spec| format!(" '--{}'", spec.long)).collect();
                Err([b"option '--", text, b"' is ambiguous; possibilities:", possibilities.as_bytes()].concat())
            }
        }
    }

    fn short(&self, letter: u8) -> Result<T, Vec<u8>> {
        let spec = self.specs.iter().find(|spec| spec.short == Some(letter));
        spec.map(|spec| spec.value).ok_or_else(|| [b"invalid option -- '", &[letter][..], b"'"].concat())
    }
}

impl<T: Copy, I: Iterator<Item = OsString>> Iterator for Arguments<'_, T, I> {
    /// An argument, or the message on what is wrong with it.
    type Item = Result<Argument<T>, Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(letter) = self.cluster.pop() {
            return Some(self.short(letter).map(Argument::Option));
        }
        let mut argument = self.arguments.next()?;
        if !self.only_operands && argument == "--" {
            self.only_operands = true;
            argument = self.arguments.next()?;
        }
        Some(match name::bytes(&argument) {
            [b'-', b'-', text @ ..] if !self.only_operands => self.long(text).map(Argument::Option),
            [b'-', first, rest @ ..] if !self.only_operands => {
                self.cluster = rest.iter().rev().copied().collect();
                self.short(*first).map(Argument::Option)
            }
            _ => {
                self.only_operands |= self.posix;
                Ok(Argument::Operand(argument))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: [Spec<char>; 4] = [
        Spec { long: "tag", short: None, value: 'g' },
        Spec { long: "text", short: Some(b't'), value: 't' },
        Spec { long: "text-only", short: None, value: 'o' },
        Spec { long: "zero", short: Some(b'z'), value: 'z' },
    ];

    /// The arguments with `<>` around operands, up to the first message.
    fn read(arguments: &str, posix: bool) -> String {
        let arguments = arguments.split_whitespace().map(OsString::from);
        let mut read = Vec::new();
        for argument in Arguments::new(&SPECS, arguments, posix) {
            match argument {
                Ok(Argument::Option(value)) => read.push(value.to_string()),
                Ok(Argument::Operand(operand)) => read.push(format!("<{}>", operand.display())),
                Err(message) => {
                    read.push(String::from_utf8_lossy(&message).into_owned());
                    break;
                }
            }
        }
        read.join(" ")
    }

    #[test]
    fn options_and_operands() {
        assert_eq!(read("a -tz b --zero - -- -t -- --tag", false), "<a> t z <b> z <-> <-t> <--> <--tag>");
        assert_eq!(read("-z a -t -- b", true), "z <a> <-t> <--> <b>");
        assert_eq!(read("-z -- a", true), "z <a>");
        assert_eq!(read("--", false), "");
    }

    #[test]
    fn abbreviations() {
        assert_eq!(read("--ta --z --text --text-", false), "g z t o");
        let message = "option '--te=x' is ambiguous; possibilities: '--text' '--text-only'";
        assert_eq!(read("--te=x -z", false), message);
    }

    #[test]
    fn what_is_wrong() {
        assert_eq!(read("-tx", false), "t invalid option -- 'x'");
        assert_eq!(read("--tags=1", false), "unrecognized option '--tags=1'");
        assert_eq!(read("--z=", false), "option '--zero' doesn't allow an argument");
    }
}
