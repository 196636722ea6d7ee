//! The tool `manyhash man`: the programs' manual pages.

use crate::console::Console;
use crate::name;
use clap::Command;
use clap_mangen::generate_to;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the manual pages of manyhash, of its tools and of manysum.
#[derive(clap::Args)]
pub struct Arguments {
    /// Where to put them, as /usr/local/share/man/man1; it has to be there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs it for these programs, and returns its exit status: 1 if a page could not be written.
pub fn main(arguments: Arguments, programs: [Command; 2]) -> ExitCode {
    let mut console = Console::new("manyhash");
    let written = programs.into_iter().try_for_each(|program| generate_to(program, &arguments.directory));
    if let Err(error) = &written {
        console.file_error(name::bytes(arguments.directory.as_os_str()), error);
    }
    console.finish(Ok(written.is_ok()))
}
