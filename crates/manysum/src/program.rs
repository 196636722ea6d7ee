//! The program `manysum`: prints checksums of files, or checks them, as the tools of GNU coreutils do.
//!
//! Started under the name of one of those tools, as by a link, it is that tool.

mod check;
mod files;
mod getopt;
mod own;
mod print;
mod settings;
mod summary;
mod tool;
mod verdict;

use crate::console::{Console, reason};
use crate::whole_file::WholeFile;
use crate::{name, standard};
use manyhash::HashFunction;
pub use own::command;
use settings::{Settings, Task};
use std::env;
use std::io;
use std::process::ExitCode;
use tool::Stop;
pub use tool::Tool;

/// Runs it, and returns its exit status: 1 if anything went wrong.
pub fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let program = arguments.next().unwrap_or_default();
    let (mut console, settings) = match Tool::started_as(&program) {
        Some(tool) => (Console::of_tool(&program), tool.settings(arguments)),
        None => match own::parse() {
            Ok(settings) => (Console::new(own::PROGRAM), settings.map_err(Stop::from)),
            Err(status) => return status,
        },
    };
    let outcome = match settings {
        Ok(settings) => run(&mut console, settings),
        Err(Stop::Text(text)) => console.line(text.as_bytes()).map(|()| true),
        Err(Stop::Wrong(message)) => {
            console.usage_error(message.as_deref());
            Ok(false)
        }
        Err(Stop::Refused(messages)) => {
            messages.into_iter().for_each(|message| console.message(message));
            Ok(false)
        }
    };
    console.finish(outcome)
}

/// What `cksum --debug` says of CRCs: whether they are computed by the processor's carry-less multiplication.
fn crc_support() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    return if is_x86_feature_detected!("pclmulqdq") && is_x86_feature_detected!("avx") {
        "using pclmul hardware support"
    } else {
        "pclmul support not detected"
    };
    #[cfg(not(target_arch = "x86_64"))]
    "using generic hardware support"
}

fn run(console: &mut Console, mut settings: Settings) -> io::Result<bool> {
    match manyhash::backend() {
        Ok(backend) if settings.debug => match settings.functions[..] {
            [HashFunction::Lanes(_)] => console.message(format!("using {backend}")),
            [HashFunction::Crc | HashFunction::Crc32] => console.message(crc_support()),
            _ => {}
        },
        Ok(_) => {}
        Err(error) => {
            console.message(error.to_string());
            return Ok(false);
        }
    }
    if let Some(path) = &settings.output {
        let file = WholeFile::check(path);
        if let (Some(walk), Ok(file)) = (&mut settings.walk, &file) {
            walk.leave_out = Some(file.path().to_owned());
        }
        if let Err(error) = file.and_then(|file| console.save_in(file)) {
            console.file_error(name::bytes(path.as_os_str()), &error);
            return Ok(false);
        }
    }
    let named = !settings.files.is_empty() || settings.files_from.is_some();
    if settings.files.is_empty() {
        settings.files.push("-".into());
    }
    let is_tool = settings.accepted.is_tool();
    let well = match settings.task {
        Task::Print(format) => print::print(console, settings, format, named),
        Task::Check(policy) => check::check(console, &settings, policy),
    }?;
    // Coreutils close it at the end, and say so again if that fails.
    if is_tool && let Err(error) = standard::close_input() {
        console.message(format!("standard input: {}", reason(&error)));
        return Ok(false);
    }
    Ok(well)
}
