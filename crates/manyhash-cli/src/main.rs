//! `manyhash`: the toolbox, one subcommand a tool.

use clap::{CommandFactory, Parser, Subcommand};
#[cfg(feature = "s3")]
use manyhash_cli::s3;
use manyhash_cli::{completions, dups, known, manifest, manual, simulate, speed};
#[cfg(unix)]
use manyhash_cli::{links, serve, store};
use manysum::{arguments, program};
use std::process::ExitCode;

/// Make manifests, match known files, find duplicates, serve S3, and measure how fast this machine hashes.
#[derive(Parser)]
#[command(name = "manyhash", version)]
struct ManyhashArguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    Completions(completions::CompletionsArguments),
    Dups(dups::DupsArguments),
    #[cfg(unix)]
    InstallLinks(links::InstallLinksArguments),
    Known(known::KnownArguments),
    Man(manual::ManualArguments),
    Manifest(manifest::ManifestArguments),
    #[cfg(feature = "s3")]
    S3(s3::S3Arguments),
    #[cfg(unix)]
    Serve(serve::ServeArguments),
    Simulate(simulate::SimulateArguments),
    Speed(speed::SpeedArguments),
    #[cfg(unix)]
    Store(store::StoreArguments),
}

fn main() -> ExitCode {
    // SAFETY: the program has no other handler of SIGBUS and maps no file itself, and none of its threads blocks the signal.
    // If the system refuses, files are read.
    #[cfg(target_os = "linux")]
    let _ = unsafe { manyhash::file::SigbusGuard::install() };
    // What this program and its sibling take, for whoever writes about it.
    let programs = || [ManyhashArguments::command(), program::command()];
    match arguments::parse() {
        Ok(ManyhashArguments { tool: Tool::Completions(arguments) }) => completions::main(arguments, programs()),
        Ok(ManyhashArguments { tool: Tool::Dups(arguments) }) => dups::main(arguments),
        #[cfg(unix)]
        Ok(ManyhashArguments { tool: Tool::InstallLinks(arguments) }) => links::main(arguments),
        Ok(ManyhashArguments { tool: Tool::Known(arguments) }) => known::main(arguments),
        Ok(ManyhashArguments { tool: Tool::Man(arguments) }) => manual::main(arguments, programs()),
        Ok(ManyhashArguments { tool: Tool::Manifest(arguments) }) => manifest::main(arguments),
        #[cfg(feature = "s3")]
        Ok(ManyhashArguments { tool: Tool::S3(arguments) }) => s3::main(arguments),
        #[cfg(unix)]
        Ok(ManyhashArguments { tool: Tool::Serve(arguments) }) => serve::main(arguments),
        Ok(ManyhashArguments { tool: Tool::Simulate(arguments) }) => simulate::main(arguments),
        Ok(ManyhashArguments { tool: Tool::Speed(arguments) }) => speed::main(arguments),
        #[cfg(unix)]
        Ok(ManyhashArguments { tool: Tool::Store(arguments) }) => store::main(arguments),
        Err(status) => status,
    }
}
