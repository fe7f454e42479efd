//! Common code of all command lines: parsing, errors, shell completions and manual pages.

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
    files::{outlive_size_limits, raise_limit_of_open_files},
    stdio::{self, check_output, complain, say},
};

/// Parses the command line at the start of a program. If it asks for help or is wrong, prints the
/// help or the error, and ends the program.
pub fn read<T: FromArgMatches>(command: Command) -> T {
    outlive_size_limits();
    raise_limit_of_open_files();
    stdio::call_program(command.get_name());
    let mut command = adjust_options(command);
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

/// Suggests the option that is most similar to an unknown one, instead of clap's suggestion. Clap
/// would suggest `--movetime` for `--ot`. Keeps clap's suggestion if no option is similar enough.
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
        // The usage line would show the option that clap suggested.
        error.remove(ContextKind::Usage);
    }
}

/// Makes the values of options case-insensitive. Also lets negative numbers through to the value
/// parsers, whose errors say what was expected.
fn adjust_options(command: Command) -> Command {
    let arg = |arg: Arg| {
        let takes_values = arg.get_action().takes_values();
        arg.ignore_case(takes_values).allow_negative_numbers(takes_values)
    };
    command.mut_args(arg).mut_subcommands(adjust_options)
}

/// Expands a pattern such as `*.epd` to the matching files, in alphabetical order, because not
/// every shell does. Returns a pattern without matches, and any other argument, unchanged.
fn expand(argument: OsString) -> Vec<OsString> {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let is_pattern = |text: &&str| text.contains(['*', '?', '[']) && !Path::new(text).exists();
    let pattern = argument.to_str().filter(is_pattern);
    let found = pattern.and_then(|pattern| glob::glob_with(pattern, options).ok());
    let paths: Vec<OsString> =
        found.into_iter().flatten().flatten().map(PathBuf::into_os_string).collect();
    if paths.is_empty() { vec![argument] } else { paths }
}

/// Returns the exit status of a program from the result of its command. Prints the error, if any.
pub fn finish(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        // The format `{:#}` prints the contexts, outermost first, and then the cause.
        complain(format_args!("{error:#}"));
        ExitCode::FAILURE
    })
}

/// Prints the help or the error of a command line, and ends the program.
pub fn end(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| io::stdout().flush());
    if !error.use_stderr() {
        check_output(printed);
    }
    std::process::exit(error.exit_code())
}

/// Runs the command `generate`, for packagers: writes shell completions to `directory/completions`
/// and manual pages to `directory/man`, and prints the directory.
///
/// # Errors
///
/// If a file cannot be written.
pub fn generate(directory: &Path, program: Command) -> anyhow::Result<ExitCode> {
    write(directory, program).with_context(|| directory.display().to_string())?;
    say(format_args!("wrote completions and manual pages to {}", directory.display()));
    Ok(ExitCode::SUCCESS)
}

fn write(directory: &Path, mut program: Command) -> io::Result<()> {
    let [completions, man] = ["completions", "man"].map(|name| directory.join(name));
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(without_help(program.clone()), &man)?;
    fs::create_dir_all(&completions)?;
    let name = program.get_name().to_owned();
    // This adds the command `help` to `program`, so the manual pages come first.
    for &shell in Shell::value_variants() {
        clap_complete::generate_to(shell, &mut program, &name, &completions)?;
    }
    Ok(())
}

/// Removes the command `help`, for which clap_mangen would write a page for every other command.
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
            // A file name that looks like a pattern, and patterns without matches.
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
