//! Options as GNU `getopt_long` reads them, of the kind that the tools of coreutils have: none has an argument that may be
//! left out.
//!
//! - Operands and options may come in any order, unless `POSIXLY_CORRECT` is set; then, and after `--`, the rest are
//!   operands.
//! - `-cw` is `-c -w`.
//! - What an option's argument is follows it: `-l8`, `--length=8`, or the next argument, whatever it begins with.
//! - A long option may be abbreviated as long as it is no other's beginning too.

use crate::name;
use std::ffi::OsString;
use std::mem;

/// An option.
#[derive(Clone, Copy)]
pub(super) struct Spec<T> {
    /// After `--`, if it has a long form.
    pub(super) long: Option<&'static str>,
    /// After `-`, if it has a short form.
    pub(super) short: Option<u8>,
    /// Whether it has an argument.
    pub(super) argument: bool,
    /// What it means.
    pub(super) value: T,
}

impl<T> Spec<T> {
    /// One without an argument.
    pub(super) const fn flag(long: &'static str, short: Option<u8>, value: T) -> Self {
        Spec { long: Some(long), short, argument: false, value }
    }

    /// One of a letter only.
    pub(super) const fn letter(short: u8, value: T) -> Self {
        Spec { long: None, short: Some(short), argument: false, value }
    }

    /// One with an argument.
    pub(super) const fn with_argument(long: &'static str, short: Option<u8>, value: T) -> Self {
        Spec { long: Some(long), short, argument: true, value }
    }
}

/// What an argument is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Argument<T> {
    /// An option, and its argument in bytes: empty if it has none.
    Option(T, Vec<u8>),
    Operand(OsString),
}

/// The arguments of a command line.
///
/// An iterator, so that an option may end the program before the arguments after it are looked at.
pub(super) struct Getopt<'a, T, I> {
    specs: &'a [Spec<T>],
    arguments: I,
    /// The short options that remain of one argument, the next of them last.
    cluster: Vec<u8>,
    /// Whether all that follows are operands.
    only_operands: bool,
    /// Whether the first operand ends the options.
    posix: bool,
}

impl<'a, T: Copy, I: Iterator<Item = OsString>> Getopt<'a, T, I> {
    /// Those of `arguments`, the program's name left out. `posix` is whether `POSIXLY_CORRECT` is set.
    pub(super) fn new(specs: &'a [Spec<T>], arguments: I, posix: bool) -> Self {
        Getopt { specs, arguments, cluster: Vec::new(), only_operands: false, posix }
    }

    /// The option of an argument without its `--`.
    fn long(&mut self, text: &[u8]) -> Result<Argument<T>, Vec<u8>> {
        let (name, given) = match text.iter().position(|&byte| byte == b'=') {
            Some(end) => (&text[..end], Some(text[end + 1..].to_vec())),
            None => (text, None),
        };
        let long =
            |spec: &'a Spec<T>| spec.long.filter(|long| long.as_bytes().starts_with(name)).map(|long| (long, spec));
        let begins: Vec<_> = self.specs.iter().filter_map(long).collect();
        let exact = begins.iter().position(|(long, _)| long.len() == name.len());
        let found = exact.map_or(&begins[..], |exact| &begins[exact..=exact]);
        match *found {
            [] => Err([b"unrecognized option '--", text, b"'"].concat()),
            [(long, spec)] if given.is_some() && !spec.argument => {
                Err(format!("option '--{long}' doesn't allow an argument").into_bytes())
            }
            [(long, spec)] => {
                let missing = || format!("option '--{long}' requires an argument").into_bytes();
                let argument = given.or_else(|| self.argument_of(spec)).ok_or_else(missing)?;
                Ok(Argument::Option(spec.value, argument))
            }
            _ => {
                let possibilities: String = found.iter().map(|(long, _)| format!(" '--{long}'")).collect();
                Err([b"option '--", text, b"' is ambiguous; possibilities:", possibilities.as_bytes()].concat())
            }
        }
    }

    /// The option of a letter, before those that remain of its argument.
    fn short(&mut self, letter: u8) -> Result<Argument<T>, Vec<u8>> {
        let wrong = |what: &str| [what.as_bytes(), b" -- '", &[letter], b"'"].concat();
        let spec = self.specs.iter().find(|spec| spec.short == Some(letter)).ok_or_else(|| wrong("invalid option"))?;
        let argument = self.argument_of(spec).ok_or_else(|| wrong("option requires an argument"))?;
        Ok(Argument::Option(spec.value, argument))
    }

    /// The argument of an option, where it is not written in one with a long one's name; empty if the option has none.
    fn argument_of(&mut self, spec: &Spec<T>) -> Option<Vec<u8>> {
        if !spec.argument {
            Some(Vec::new())
        } else if self.cluster.is_empty() {
            self.arguments.next().map(|argument| name::bytes(&argument).to_vec())
        } else {
            Some(mem::take(&mut self.cluster).into_iter().rev().collect())
        }
    }
}

impl<T: Copy, I: Iterator<Item = OsString>> Iterator for Getopt<'_, T, I> {
    /// An argument, or the message on what is wrong with it.
    type Item = Result<Argument<T>, Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(letter) = self.cluster.pop() {
            return Some(self.short(letter));
        }
        let mut argument = self.arguments.next()?;
        if !self.only_operands && argument == "--" {
            self.only_operands = true;
            argument = self.arguments.next()?;
        }
        Some(match name::bytes(&argument) {
            [b'-', b'-', text @ ..] if !self.only_operands => self.long(text),
            [b'-', first, rest @ ..] if !self.only_operands => {
                self.cluster = rest.iter().rev().copied().collect();
                self.short(*first)
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

    const SPECS: [Spec<char>; 5] = [
        Spec::flag("tag", None, 'g'),
        Spec::flag("text", Some(b't'), 't'),
        Spec::flag("text-only", None, 'o'),
        Spec::flag("zero", Some(b'z'), 'z'),
        Spec::with_argument("length", Some(b'l'), 'l'),
    ];

    /// The arguments with `<>` around operands, up to the first message.
    fn read(arguments: &str, posix: bool) -> String {
        let arguments = arguments.split_whitespace().map(OsString::from);
        let mut read = Vec::new();
        for argument in Getopt::new(&SPECS, arguments, posix) {
            match argument {
                Ok(Argument::Option(value, argument)) => {
                    read.push(format!("{value}{}", String::from_utf8_lossy(&argument)));
                }
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
    fn arguments_of_options() {
        assert_eq!(read("-l8 -zl 8 -lz --le=8 --length 8 a --length= -t", false), "l8 z l8 lz l8 l8 <a> l t");
        assert_eq!(read("-l -- -- -l", true), "l-- <-l>");
        assert_eq!(read("-zl", false), "z option requires an argument -- 'l'");
        assert_eq!(read("--l", false), "option '--length' requires an argument");
    }

    #[test]
    fn what_is_wrong() {
        assert_eq!(read("-tx", false), "t invalid option -- 'x'");
        assert_eq!(read("--tags=1", false), "unrecognized option '--tags=1'");
        assert_eq!(read("--z=", false), "option '--zero' doesn't allow an argument");
    }
}
