//! `manyhash`: the toolbox, one subcommand a tool.

use clap::{Parser, Subcommand};
use manyhash_cli::{arguments, dups, simulate, speed};
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
    Dups(dups::Arguments),
    Simulate(simulate::Arguments),
    Speed(speed::Arguments),
}

fn main() -> ExitCode {
    match arguments::parse() {
        Ok(Arguments { tool: Tool::Dups(arguments) }) => dups::main(arguments),
        Ok(Arguments { tool: Tool::Simulate(arguments) }) => simulate::main(arguments),
        Ok(Arguments { tool: Tool::Speed(arguments) }) => speed::main(arguments),
        Err(status) => status,
    }
}
