//! Chess without an opinion: scores and windows, positions and games over
//! shakmaty, positions and moves as text, exchanges on a square. Nothing here
//! searches or evaluates.

pub mod fen;
pub mod lines;
pub mod notation;
pub mod position;
pub mod score;
pub mod see;
