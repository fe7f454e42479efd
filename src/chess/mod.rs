//! Chess without an opinion: scores and windows, positions and games over
//! shakmaty, legal moves by kind, positions, moves and games as text, exchanges on a
//! square. Nothing here searches or evaluates.

pub mod epd;
pub mod fen;
pub mod lines;
pub(crate) mod movegen;
pub mod notation;
pub mod pgn;
pub mod position;
pub(crate) mod reversible;
pub mod score;
pub mod see;
pub(crate) mod sliders;
pub(crate) mod threats;
