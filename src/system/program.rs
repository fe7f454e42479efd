//! What the command lines of all programs have in common: how they are read, and the
//! shell completions and manual pages that are made of their description.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{Command, FromArgMatches, ValueEnum as _};
use clap_complete::Shell;

use super::{
    files::outlive_size_limits,
    stdio::{self, check_output, complain, say},
};

/// Reads the command line, for the start of a program. Where it asks for help or is wrong,
/// that is printed, and the program ends.
pub fn read<T: FromArgMatches>(command: Command) -> T {
    outlive_size_limits();
    stdio::call_program(command.get_name());
    let matches = command.try_get_matches().unwrap_or_else(|error| end(&error));
    T::from_arg_matches(&matches).unwrap_or_else(|error| end(&error))
}

/// The end of a program: the exit status that its command found, or what went wrong, which
/// is printed.
pub fn finish(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        // Where it happened, outermost first, and why.
        complain(format_args!("{error:#}"));
        ExitCode::FAILURE
    })
}

/// Prints help or what is wrong with the command line, and ends the program.
pub fn end(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| io::stdout().flush());
    if !error.use_stderr() {
        check_output(printed);
    }
    std::process::exit(error.exit_code())
}

/// The command `generate`, for packagers: writes shell completions and manual pages of the
/// program below `directory`, and says where.
///
/// # Errors
///
/// If they cannot be written.
pub fn generate(directory: &Path, program: Command) -> anyhow::Result<ExitCode> {
    write(directory, program).with_context(|| directory.display().to_string())?;
    say(format_args!("completions and man pages are in {}", directory.display()));
    Ok(ExitCode::SUCCESS)
}

fn write(directory: &Path, mut program: Command) -> io::Result<()> {
    let [completions, man] = ["completions", "man"].map(|name| directory.join(name));
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(without_help(program.clone()), &man)?;
    fs::create_dir_all(&completions)?;
    let name = program.get_name().to_owned();
    // Completes the description, `help` and all: so the pages come first.
    for &shell in Shell::value_variants() {
        clap_complete::generate_to(shell, &mut program, &name, &completions)?;
    }
    Ok(())
}

/// Leaves out the command `help`, which would have a page for every other.
fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}
