//! The tool `manyhash man`: the programs' manual pages.

mod sections;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use manysum::console::Console;
use manysum::name;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write the manual pages of manyhash, its subcommands and manysum.
#[derive(clap::Args)]
pub struct ManualArguments {
    /// Directory for the pages, such as /usr/local/share/man/man1; it must exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs it for these programs, and returns its exit status: 1 if a page could not be written.
pub fn main(arguments: ManualArguments, programs: [Command; 2]) -> ExitCode {
    let mut console = Console::new("manyhash");
    let written = programs.into_iter().try_for_each(|program| {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        write(&program, &arguments.directory)
    });
    if let Err(error) = &written {
        console.file_error(name::bytes(arguments.directory.as_os_str()), error);
    }
    console.finish(Ok(written.is_ok()))
}

/// Writes the page of a program, and those of its tools.
fn write(program: &Command, directory: &Path) -> io::Result<()> {
    program.get_subcommands().try_for_each(|tool| write(tool, directory))?;
    let page = Man::new(program.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    let title = program.get_display_name().unwrap_or_else(|| program.get_name());
    if let Some(sections) = sections::of(title) {
        more(&sections).to_writer(&mut text)?;
    }
    fs::write(directory.join(page.get_filename()), text)
}

/// The sections of a page that are not about its arguments.
fn more(sections: &sections::Sections) -> Roff {
    let mut roff = Roff::new();
    for (heading, rows) in [("EXIT STATUS", sections.statuses), ("ENVIRONMENT", sections.environment)] {
        roff.control("SH", [heading]);
        for (name, text) in rows {
            roff.control("TP", []).text([bold(*name)]).text([roman(*text)]);
        }
    }
    roff.control("SH", ["EXAMPLES"]);
    for (text, command) in sections.examples {
        roff.control("PP", []).text([roman(*text)]).control("PP", []).control("RS", ["4"]).control("nf", []);
        roff.text([roman(*command)]).control("fi", []).control("RE", []);
    }
    roff
}
