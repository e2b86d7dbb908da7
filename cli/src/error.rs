//! How failures end: one line on standard error and an exit status.

use std::io::Write;
use std::process::ExitCode;

/// The status of bad usage and bad input.
const BAD_INPUT: u8 = 2;

/// The status for a command line that the parser did not take: 0 where it asked for help, 2 otherwise.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Help and version; a closed pipe is no failure.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    print_line(&condense(&error.to_string()));
    ExitCode::from(BAD_INPUT)
}

/// The status for a command that failed.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    print_line(&format!("error: {error:#}"));
    ExitCode::from(BAD_INPUT)
}

/// True where the reader of our output went away, which is its right (`relayout show … | head`).
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The message of a usage error without the help that follows it, on one line.
fn condense(message: &str) -> String {
    let told = message.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let told = told.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    told.collect::<Vec<_>>().join(" ")
}

/// Prints `message` as exactly one line: texts from outside may hold line breaks and other control characters.
fn print_line(message: &str) {
    let mut line = String::with_capacity(message.len() + 1);
    for character in message.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    // Nobody is left to tell where even this fails.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_errors_lose_their_help() {
        let message =
            "error: unexpected argument '--x' found\n\n  tip: try '--y'\n\nUsage: relayout …\n\nFor more";
        assert_eq!(condense(message), "error: unexpected argument '--x' found tip: try '--y'");
    }

    #[test]
    fn a_closed_pipe_is_found_under_its_context() {
        let pipe = anyhow::Error::new(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert!(is_broken_pipe(&pipe.context("cannot write standard output")));
        assert!(!is_broken_pipe(&anyhow::anyhow!("broken pipe")));
    }
}
