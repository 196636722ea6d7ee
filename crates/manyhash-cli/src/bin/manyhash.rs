//! `manyhash`: the toolbox, one subcommand a tool.

use clap::{Parser, Subcommand};
use manyhash_cli::{arguments, speed};
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
    Speed(speed::Arguments),
}

fn main() -> ExitCode {
    match arguments::parse() {
        Ok(Arguments { tool: Tool::Speed(arguments) }) => speed::main(arguments),
        Err(status) => status,
    }
}
