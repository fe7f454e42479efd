//! Command line of the trainer: each command is one function of the library.

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};
use lancet::system::program;
use lancet_train::{average, command as train, data, datagen, learn, wdl};

/// Self-play, training and networks for the chess engine Lancet
///
/// Makes Lancet's networks: plays games of the engine against itself, manages files of games, and
/// trains networks on them. Also fits the model of winning chances to games. `lancet-train learn`
/// repeats self-play, training and matches, and starts without any network or games. `lancet-train
/// help COMMAND` describes each command and its options.
#[derive(Parser)]
#[command(version = lancet::VERSION, after_long_help = "\
Examples:
  lancet-train datagen --out games --nodes 150 --positions 10000000
  lancet-train train --data games/*.vf --out lancet.nnue
  lancet-train learn --out grown --hours 2
  lancet-train train --help

Environment:
  NO_COLOR  if set and not empty, switches colours off")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Datagen(datagen::Args),
    Data(data::Args),
    Train(train::Args),
    Average(average::Args),
    Learn(learn::command::Args),
    Wdl(wdl::Args),
    /// Write shell completions and manual pages to a directory, for packagers
    #[command(hide = true)]
    Generate {
        /// Output directory; created if it does not exist
        directory: PathBuf,
    },
}

const EXIT_STATUS: &str = "\
Exit status:
  0    on success; in datagen, train and learn also after Ctrl-C
  1    if a file or a setting could not be used (the message names it and the reason), or if there
       was not enough memory
  2    if the command line was wrong
  130  after Ctrl-C in the other commands, or after a second Ctrl-C, which quits
       at once";

/// Adds the exit status to the pages of a command and of its subcommands.
fn with_exit_status(command: clap::Command) -> clap::Command {
    let page = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    command.after_long_help(format!("{page}\n\n{EXIT_STATUS}")).mut_subcommands(with_exit_status)
}

fn main() -> ExitCode {
    let program = with_exit_status(Cli::command());
    program::finish(match program::read::<Cli>(program.clone()).command {
        Command::Datagen(args) => datagen::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Average(args) => average::run(&args),
        Command::Learn(args) => learn::command::run(&args),
        Command::Wdl(args) => wdl::run(&args),
        Command::Generate { directory } => program::generate(&directory, program),
    })
}
