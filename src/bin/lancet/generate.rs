//! `lancet generate DIR`, for packagers: shell completions and manual pages from the
//! command line's own description.

use std::{fs, io, path::Path, process::ExitCode};

use clap::{Command, ValueEnum as _};
use clap_complete::Shell;
use lancet::tools::{complain, say};

/// Writes both, below `directory`, and says where.
pub fn run(directory: &Path, command: &mut Command) -> ExitCode {
    match write(directory, command) {
        Ok(()) => {
            say(format_args!("completions and man pages are in {}", directory.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(format_args!("{}: {error}", directory.display()));
            ExitCode::FAILURE
        }
    }
}

fn write(directory: &Path, command: &mut Command) -> io::Result<()> {
    let [completions, man] = ["completions", "man"].map(|name| directory.join(name));
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(without_help(command.clone()), &man)?;
    fs::create_dir_all(&completions)?;
    // Completes the description, `help` and all: so the pages come first.
    for &shell in Shell::value_variants() {
        clap_complete::generate_to(shell, command, "lancet", &completions)?;
    }
    Ok(())
}

/// Leaves out the command `help`, which would have a page for every other.
fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
