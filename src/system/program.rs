//! What the command lines of all programs have in common: how they are read, and the
//! shell completions and manual pages that are made of their description.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{
    Arg, Command, FromArgMatches, ValueEnum as _,
    error::{ContextKind, ContextValue, ErrorKind},
};
use clap_complete::Shell;
use glob::MatchOptions;

use super::{
    arguments::nearest,
    files::outlive_size_limits,
    stdio::{self, check_output, complain, say},
};

/// Reads the command line, for the start of a program. Where it asks for help or is wrong,
/// that is printed, and the program ends.
pub fn read<T: FromArgMatches>(command: Command) -> T {
    outlive_size_limits();
    stdio::call_program(command.get_name());
    let mut command = in_any_case(command);
    let mut arguments = env::args_os();
    let name = arguments.next();
    let arguments: Vec<OsString> = arguments.flat_map(expand).collect();
    let matches = command.try_get_matches_from_mut(name.iter().chain(&arguments));
    let matches = matches.unwrap_or_else(|mut error| {
        suggest(&mut error, &command, &arguments);
        end(&error)
    });
    T::from_arg_matches(&matches).unwrap_or_else(|error| end(&error))
}

/// Has an error suggest the option that is most like an unknown one. Clap's choice for `--ot`
/// is `--movetime`.
fn suggest(error: &mut clap::Error, mut command: &Command, arguments: &[OsString]) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return };
    for argument in arguments {
        command = command.find_subcommand(argument).unwrap_or(command);
    }
    let options = command.get_arguments().filter_map(Arg::get_long);
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(option) = nearest(given.trim_start_matches('-'), options)
    {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{option}")));
        // It would have the option that clap suggests.
        error.remove(ContextKind::Usage);
    }
}

/// Takes the names among an option's values in any case.
fn in_any_case(command: Command) -> Command {
    let arg = |arg: Arg| {
        let takes_values = arg.get_action().takes_values();
        arg.ignore_case(takes_values)
    };
    command.mut_args(arg).mut_subcommands(in_any_case)
}

/// The files that a pattern such as `*.epd` matches, in order: not every shell does this.
/// Anything else stays as it is.
fn expand(argument: OsString) -> Vec<OsString> {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let is_pattern = |text: &&str| text.contains(['*', '?', '[']) && !Path::new(text).exists();
    let pattern = argument.to_str().filter(is_pattern);
    let found = pattern.and_then(|pattern| glob::glob_with(pattern, options).ok());
    let paths: Vec<OsString> =
        found.into_iter().flatten().flatten().map(PathBuf::into_os_string).collect();
    if paths.is_empty() { vec![argument] } else { paths }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_the_files_they_match() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).into_os_string();
        for name in ["b.epd", "a1.epd", "a[1].epd", ".c.epd", "d.pgn"] {
            fs::write(path(name), "").unwrap();
        }
        for (given, names) in [
            ("*.epd", &["a1.epd", "a[1].epd", "b.epd"][..]),
            ("?.epd", &["b.epd"]),
            ("a[0-9].epd", &["a1.epd"]),
            // A name that looks like a pattern, and patterns that match nothing.
            ("a[1].epd", &["a[1].epd"]),
            ("*.vf", &["*.vf"]),
            ("max (40 (30 ??))", &["max (40 (30 ??))"]),
            ("[", &["["]),
        ] {
            assert_eq!(
                expand(path(given)),
                names.iter().map(|&name| path(name)).collect::<Vec<_>>()
            );
        }
    }
}
