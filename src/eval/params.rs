//! The evaluation's tunable constants; what their lines say is in
//! [`tune`](crate::system::tune).

crate::system::tune::params! {
    /// What a network's word counts for on a board without material, in 1/1024, ...
    weight_bare: 682, 300..=1100, 25;
    /// ... and the centipawns of both sides that add 1 to it.
    weight_material: 42, 20..=100, 4;
}
