//! The tunable constants of the evaluation. [`tune`](crate::system::tune) describes their format.

crate::system::tune::params! {
    /// Factor by which a network's score is multiplied on a board without material, in 1/1024.
    weight_bare: 682, 300..=1100, 25;
    /// Material of both sides, in centipawns, that adds 1/1024 to the factor of `weight_bare`.
    weight_material: 42, 20..=100, 4;
}
