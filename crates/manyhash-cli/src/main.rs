//! `manyhash`: the toolbox, one subcommand a tool.

use clap::{CommandFactory, Parser, Subcommand};
#[cfg(unix)]
use manyhash_cli::links;
use manyhash_cli::{completions, dups, known, manifest, manual, simulate, speed};
use manysum::{arguments, program};
use std::process::ExitCode;

/// Tools around hashing many messages at once.
#[derive(Parser)]
#[command(name = "manyhash", version)]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    Completions(completions::Arguments),
    Dups(dups::Arguments),
    #[cfg(unix)]
    InstallLinks(links::Arguments),
    Known(known::Arguments),
    Man(manual::Arguments),
    Manifest(manifest::Arguments),
    Simulate(simulate::Arguments),
    Speed(speed::Arguments),
}

fn main() -> ExitCode {
    // What this program and its sibling take, for whoever writes about it.
    let programs = || [Arguments::command(), program::command()];
    match arguments::parse() {
        Ok(Arguments { tool: Tool::Completions(arguments) }) => completions::main(arguments, programs()),
        Ok(Arguments { tool: Tool::Dups(arguments) }) => dups::main(arguments),
        #[cfg(unix)]
        Ok(Arguments { tool: Tool::InstallLinks(arguments) }) => links::main(arguments),
        Ok(Arguments { tool: Tool::Known(arguments) }) => known::main(arguments),
        Ok(Arguments { tool: Tool::Man(arguments) }) => manual::main(arguments, programs()),
        Ok(Arguments { tool: Tool::Manifest(arguments) }) => manifest::main(arguments),
        Ok(Arguments { tool: Tool::Simulate(arguments) }) => simulate::main(arguments),
        Ok(Arguments { tool: Tool::Speed(arguments) }) => speed::main(arguments),
        Err(status) => status,
    }
}
