//! lab
pub mod cell;
pub mod chess;
pub mod command;
pub mod delay;
pub mod explain;
pub mod game;
pub mod interior;
pub mod node;
pub mod output;
pub mod plot;
pub mod root;
pub mod run;
pub mod suite;
pub mod table;
pub mod tictactoe;
pub mod tree;
pub mod yardstick;
