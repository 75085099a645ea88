//! Which conversation a run begins or goes on with.

use super::args::{Args, Begin};
use super::place::Place;
use super::row::Chain;
use super::transcript::{self, Earlier, Transcript};
use crate::error::{Error, Exit, Result};

/// The conversation that the command line names, and what it held before.
pub(super) fn conversation(
    args: &Args,
    place: &Place,
    model: &str,
) -> Result<(Transcript, Option<Earlier>)> {
    let cwd = place.dir.to_string_lossy();
    let unknown = |id: &str| {
        Error::new(
            Exit::Fault,
            format!("no conversation found with session id `{id}`"),
        )
    };
    let id = match &args.begin {
        Begin::Fresh => {
            let id = match &args.session_id {
                Some(id) if transcript::find(&place.config_dir, id).is_some() => {
                    return Err(Error::new(
                        Exit::Fault,
                        format!("session id `{id}` is already in use"),
                    ));
                }
                Some(id) => id.clone(),
                None => uuid::Uuid::new_v4().to_string(),
            };
            return Ok((fresh(args, place, model, id), None));
        }
        Begin::Resume(id) => id.clone(),
        Begin::Newest => transcript::newest(&transcript::folder(&place.config_dir, &cwd))
            .ok_or_else(|| Error::new(Exit::Fault, "no conversation in this folder yet"))?,
    };
    let path = transcript::find(&place.config_dir, &id).ok_or_else(|| unknown(&id))?;
    let earlier = transcript::earlier(&path)?;
    let chain = chain(args, place, model, id);
    Ok((Transcript::resumed(path, chain, &earlier), Some(earlier)))
}

/// A conversation with this id that has no file yet.
pub(super) fn fresh(args: &Args, place: &Place, model: &str, id: String) -> Transcript {
    let folder = transcript::folder(&place.config_dir, &place.dir.to_string_lossy());
    let path = folder.join(format!("{id}.jsonl"));
    Transcript::new(path, chain(args, place, model, id))
}

fn chain(args: &Args, place: &Place, model: &str, id: String) -> Chain {
    let dir = place.dir.to_string_lossy().into_owned();
    let mut chain = Chain::new(id, dir, place.branch.clone());
    model.clone_into(&mut chain.model);
    chain.effort = args.effort.clone().unwrap_or_else(|| "medium".into());
    chain.permission_mode = match args.permission_mode.as_deref() {
        // Hooks and rows call it so.
        None | Some("manual") => "default".into(),
        Some(mode) => mode.into(),
    };
    chain
}
