//! `manyhash`: the toolbox, one subcommand a tool.

use clap::{Parser, Subcommand};
#[cfg(unix)]
use manyhash_cli::links;
use manyhash_cli::{arguments, simulate, speed};
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
    #[cfg(unix)]
    InstallLinks(links::Arguments),
    Simulate(simulate::Arguments),
    Speed(speed::Arguments),
}

fn main() -> ExitCode {
    match arguments::parse() {
        #[cfg(unix)]
        Ok(Arguments { tool: Tool::InstallLinks(arguments) }) => links::main(arguments),
        Ok(Arguments { tool: Tool::Simulate(arguments) }) => simulate::main(arguments),
        Ok(Arguments { tool: Tool::Speed(arguments) }) => speed::main(arguments),
        Err(status) => status,
    }
}
