//! The program `lancet-lab`. The library's module `command` does the work.

use std::process::ExitCode;

use clap::CommandFactory as _;
use lancet::system::{program, stdio::complain};
use lancet_lab::command::{self, Args};

fn main() -> ExitCode {
    command::run(&program::read::<Args>(Args::command())).unwrap_or_else(|error| {
        complain(format_args!("{error:#}"));
        ExitCode::from(command::status(&error))
    })
}
