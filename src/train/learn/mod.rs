//! `lancet-train learn`: from nothing to a network, unattended. Generation after generation
//! it plays games, trains on the newest ones, and has the new network play the old one,
//! whose place it takes only by winning.
//!
//! Self-play is [`datagen`](super::datagen)'s and training [`train`](super::command)'s:
//! what is done here can be done by hand with these commands. What is new is the match
//! (`duel`, `sprt`) and the lineage with its picture. All that is known is in files,
//! written before it counts, so a run that was killed goes on where it was.

pub mod command;
mod duel;
pub mod lineage;
mod picture;
mod sprt;
