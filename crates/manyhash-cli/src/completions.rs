//! The tool `manyhash completions`: what a shell has to know to complete the programs' arguments.

mod values;

use clap::Command;
use clap_complete::{Shell, generate};
use manysum::console::Console;
use std::process::ExitCode;

/// Print the shell completions of a program.
///
/// For bash: source <(manyhash completions bash manysum)
#[derive(clap::Args)]
pub struct CompletionsArguments {
    #[arg(value_name = "SHELL")]
    shell: Shell,

    /// Program to complete
    #[arg(default_value = "manyhash", value_parser = ["manyhash", "manysum"])]
    program: String,
}

/// Runs it for one of these programs, and returns its exit status.
pub fn main(arguments: CompletionsArguments, programs: [Command; 2]) -> ExitCode {
    let mut console = Console::new("manyhash");
    let mut completions = Vec::new();
    for program in programs {
        if program.get_name() == arguments.program {
            let mut program = values::with_algorithms(program);
            let mut script = Vec::new();
            generate(arguments.shell, &mut program, &arguments.program, &mut script);
            completions = values::completed(arguments.shell, &program, script);
        }
    }
    let written = console.line(&completions);
    console.finish(written.map(|()| true))
}
