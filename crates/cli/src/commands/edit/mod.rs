//! `krm-template edit`: changes the kustomization file of the current directory, as `kustomize edit`.
//!
//! The file is read as plain data that remembers its text, changed, and compared with it: only the
//! bytes of what changes are edited.
//!
//! Source: kustomize 5.8, `kustomize/commands/edit`.

mod add;
mod file;
mod fix;
mod join;
mod options;
mod remove;
mod set;
mod words;

use clap::{Args, Subcommand};

use self::file::File;
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK};
use krm_yaml::Document;
use krm_yaml::diagnostic::{Diagnostics, Result};

/// Edit the kustomization file of the current directory
///
/// The commands are those of `kustomize edit`. They change only the bytes of what they add, set or
/// remove: comments, order, quotes and indentation stay.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Add(Box<add::Arguments>),
    Set(set::Arguments),
    Remove(Box<remove::Arguments>),
    Fix(fix::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    let result = file::find().and_then(|path| Ok((path, file::read(path)?)));
    let read = diagnostics.take(result);
    let edited = read.as_ref().and_then(|(path, document)| {
        let edited = arguments.action.edit(document, &mut diagnostics);
        Some((path, diagnostics.take(edited)?))
    });
    let edited = edited.filter(|_| !diagnostics.has_errors());
    console.report(&diagnostics);
    let Some((path, (text, done))) = edited else {
        return Ok(FAILED);
    };
    io::write(path, &text)?;
    for line in &done {
        console.say(line);
    }
    Ok(OK)
}

impl Action {
    /// The text of the file after the command, and what to say about it.
    fn edit(
        &self,
        document: &Document,
        diagnostics: &mut Diagnostics,
    ) -> Result<(String, Vec<String>)> {
        let mut file = File::of(document)?;
        let mut done = Vec::new();
        match self {
            Self::Add(arguments) => arguments.apply(&mut file, diagnostics)?,
            Self::Set(arguments) => arguments.apply(&mut file)?,
            Self::Remove(arguments) => arguments.apply(&mut file, diagnostics)?,
            Self::Fix(arguments) => {
                done = arguments.apply(&mut file, diagnostics)?;
                if let Some(text) = fix::joined(document, &file.value) {
                    return Ok((text, done));
                }
            }
        }
        Ok((file.finish()?, done))
    }
}
