//! `lancet-train learn`: trains networks from scratch, unattended. Each generation plays games with
//! the best network, trains a new network on the games of all generations, and plays a match
//! between the two networks. The new network replaces the best one only if it wins.
//!
//! Self-play uses [`datagen`](super::datagen) and training uses [`train`](super::command), so you
//! can also run these steps by hand. This module adds the match (`duel`, `sprt`) and the lineage
//! with its picture. All state is in files, so a killed run continues where it stopped.

pub mod command;
mod duel;
pub mod lineage;
mod picture;
mod sprt;
