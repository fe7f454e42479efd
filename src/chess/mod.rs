//! The rules and notation of chess: scores and windows, positions and games based on shakmaty,
//! staged generation of legal moves, FEN, EPD, SAN and PGN, and static exchange evaluation. This
//! layer does not evaluate or search.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

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
