//! Arguments of a command that are defined only if it is given: all commands would wait for them
//! otherwise.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The arguments of such a command.
#[derive(Debug)]
pub(crate) struct Deferred<A>(pub(crate) A);

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Deferred<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
    }
}
