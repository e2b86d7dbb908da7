//! The `relayout` program: converts files between memory layouts, and shows, explains, checks and measures layouts.
#![deny(unsafe_code)]

mod args;
mod checkpoint;
mod commands;
mod error;
mod map;
mod output;
mod picture;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return error::usage(&error),
    };
    run(arguments.command.unwrap_or(Command::Demo)).unwrap_or_else(|error| error::report(&error))
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Demo => commands::demo::run(),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::Shape(arguments) => commands::shape::run(&arguments),
        Command::Index(arguments) => commands::index::run(&arguments),
        Command::Show(arguments) => commands::show::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
    }
}
