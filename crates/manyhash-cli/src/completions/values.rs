//! The names of algorithms, where an option takes one.
//!
//! clap knows them for bash, fish and zsh. Its scripts for Elvish and PowerShell complete no values at all, so what does
//! is put into them.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;
use manyhash::{Algorithm, HashFunction};
use manyhash_s3::checksum::ChecksumAlgorithm;

/// The names that an argument takes, if it takes those of algorithms.
fn names(argument: &Arg) -> Option<Vec<&'static str>> {
    match argument.get_id().as_str() {
        "algorithm" => Some(HashFunction::all().map(HashFunction::name).collect()),
        "checksums" => Some(ChecksumAlgorithm::ALL.into_iter().map(ChecksumAlgorithm::name).collect()),
        "checksum" => {
            let names = ChecksumAlgorithm::ALL.into_iter().map(ChecksumAlgorithm::lower_case_name);
            Some(["auto", "none"].into_iter().chain(names).collect())
        }
        // Of the tools that are about lanes.
        "algorithms" | "hash" => Some(Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect()),
        _ => None,
    }
}

/// The program whose arguments, and those of its tools, have the names of algorithms for values.
pub(super) fn with_algorithms(program: Command) -> Command {
    let program = program.mut_args(|argument| match names(&argument) {
        Some(names) => argument.value_parser(PossibleValuesParser::new(names)),
        None => argument,
    });
    program.mut_subcommands(with_algorithms)
}

/// The script with what it lacks.
pub(super) fn completed(shell: Shell, program: &Command, script: Vec<u8>) -> Vec<u8> {
    let mut options = Vec::new();
    add_options(program, &mut options);
    let Ok(text) = str::from_utf8(&script) else { return script };
    match shell {
        Shell::Elvish => elvish(text, &options).into_bytes(),
        Shell::PowerShell => powershell(text, &options).into_bytes(),
        _ => script,
    }
}

/// An option as it is written, and the values that it takes.
type Values = (String, Vec<&'static str>);

/// Adds those of a program and its tools. An option of one name has the same values in all of them.
fn add_options(program: &Command, options: &mut Vec<Values>) {
    for argument in program.get_opts() {
        let Some(names) = names(argument) else { continue };
        let short = argument.get_short().map(|letter| format!("-{letter}"));
        let long = argument.get_long().map(|word| format!("--{word}"));
        for option in short.into_iter().chain(long) {
            if !options.iter().any(|(other, _)| *other == option) {
                options.push((option, names.clone()));
            }
        }
    }
    program.get_subcommands().for_each(|tool| add_options(tool, options));
}

/// Where Elvish's script says what there is for a command.
const ELVISH: &str = "    $completions[$command]\n";

fn elvish(script: &str, options: &[Values]) -> String {
    let cases = options.iter().map(|(option, names)| format!("        &'{option}'= [{}]\n", names.join(" ")));
    let values = format!(
        "    var values = [\n{}    ]\n    var previous = ''\n    if (> (count $words) 2) {{\n        set previous = $words[-2]\n    \
         }}\n    if (has-key $values $previous) {{\n        all $values[$previous]\n    }} else {{\n        \
         $completions[$command]\n    }}\n",
        cases.collect::<String>()
    );
    script.replacen(ELVISH, &values, 1)
}

/// Where PowerShell's script has what there is for a command, and takes what fits.
const POWERSHELL: &str = "    $completions.Where{";

fn powershell(script: &str, options: &[Values]) -> String {
    let quoted = |names: &[&str]| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let cases = options.iter().map(|(option, names)| format!("        '{option}' = @({})\n", quoted(names)));
    let values = format!(
        "    $values = @{{\n{}    }}\n    $previous = $commandElements |\n        Where-Object {{ $_.Extent.EndOffset -lt \
         $cursorPosition }} |\n        Select-Object -Last 1\n    if ($previous -and $values.ContainsKey($previous.Extent.Text)) \
         {{\n        $completions = @($values[$previous.Extent.Text] | ForEach-Object {{\n            \
         [CompletionResult]::new($_, $_, [CompletionResultType]::ParameterValue, $_)\n        }})\n    }}\n\n{POWERSHELL}",
        cases.collect::<String>()
    );
    script.replacen(POWERSHELL, &values, 1)
}
