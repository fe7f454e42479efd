//! `lancet-train average`: the mean of several networks.
//!
//! Source: M. Wortsman and others, "Model soups: averaging weights of multiple fine-tuned models
//! improves accuracy without increasing inference time", 2022.

use std::{path::PathBuf, process::ExitCode};

use anyhow::ensure;
use clap::Args as ClapArgs;
use serde::Serialize;
use wide::f32x8;

use super::{layout::Layout, replace};
use lancet::{
    eval::nnue::Network,
    system::{files, stdio::note},
};

/// Average networks that were trained from the same one
///
/// Every parameter of the new network is the mean of the parameters of these networks. Networks
/// that were trained from the same network, with different seeds or on different games, make
/// different errors. Their mean often plays better than any of them.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  for seed in 1 2 3; do lancet-train train --data games/*.vf --from old.nnue --seed $seed --out $seed.nnue; done
  lancet-train average 1.nnue 2.nnue 3.nnue --out new.nnue")]
pub struct Args {
    /// Networks of the same shape
    #[arg(required = true, value_name = "NET")]
    networks: Vec<PathBuf>,
    /// File to write the network to
    #[arg(long, value_name = "OUT")]
    out: PathBuf,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
}

/// Record of how the network was made, stored in its file.
#[derive(Serialize)]
struct Provenance<'a> {
    lancet: &'a str,
    mean_of: Vec<Member<'a>>,
}

#[derive(Serialize)]
struct Member<'a> {
    network: String,
    provenance: &'a str,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be used, or the networks differ in shape.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    files::check_outputs([&*args.out], &args.networks, |_| args.force)?;
    let networks = args.networks.iter().map(|path| Network::load(path));
    let network = mean(&networks.collect::<Result<Vec<_>, _>>()?)?;
    replace(&args.out, network.to_bytes())?;
    note(format_args!("{}: {}", args.out.display(), network.name()));
    Ok(ExitCode::SUCCESS)
}

/// Returns the network whose parameters are the rounded means of the parameters of at least one
/// network.
///
/// # Errors
///
/// If the networks differ in shape.
fn mean(networks: &[Network]) -> anyhow::Result<Network> {
    let layout = Layout::of(&networks[0]);
    let share = f32x8::splat(1.0 / networks.len() as f32);
    let mut sums = vec![f32x8::ZERO; layout.len()];
    for network in networks {
        let shape = Layout::of(network);
        ensure!(shape == layout, "{}: a network of {shape}, expected {layout}", network.name());
        for (sum, numbers) in sums.iter_mut().zip(layout.dequantise(network)?) {
            *sum += numbers * share;
        }
    }
    let mean_of = networks
        .iter()
        .map(|network| Member { network: network.name(), provenance: network.provenance() })
        .collect();
    let lancet = env!("CARGO_PKG_VERSION");
    let provenance = toml::to_string(&Provenance { lancet, mean_of })?;
    Ok(layout.quantise(&sums, &provenance)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_network(king_buckets: usize, hidden: usize, seed: u64) -> Network {
        let layout = Layout { king_buckets, hidden, buckets: 2 };
        layout.quantise(&layout.initial(seed, 0.15), "random, for a test").unwrap()
    }

    #[test]
    fn numbers_are_means() {
        let networks = [1, 2, 3].map(|seed| random_network(1, 64, seed));
        let alone = mean(&networks[..1]).unwrap();
        assert_eq!(alone.parameters().weights, networks[0].parameters().weights);
        let all = mean(&networks).unwrap();
        let [one, two, three] = networks.each_ref().map(numbers);
        let unit = f64::from(all.parameters().output_unit);
        for (i, mean) in numbers(&all).into_iter().enumerate() {
            let expected = (one[i] + two[i] + three[i]) / 3.0;
            assert!((mean - expected).abs() <= 0.51 / unit.min(255.0), "{i}: {mean} {expected}");
        }
        for network in &networks {
            assert!(all.provenance().contains(&network.name()), "{}", all.provenance());
        }
    }

    /// Returns all numbers of a network.
    fn numbers(network: &Network) -> Vec<f64> {
        let p = network.parameters();
        let unit = f64::from(p.output_unit);
        let first = p.weights.iter().chain(&p.biases).map(|&n| f64::from(n) / 255.0);
        let last = p.output_weights.iter().map(|&n| f64::from(n) / unit);
        let biases = p.output_biases.iter().map(|&n| f64::from(n) / (255.0 * unit));
        first.chain(last).chain(biases).collect()
    }

    #[test]
    fn different_shapes_are_refused() {
        let [small, large, buckets] = [(1, 32), (1, 64), (4, 64)]
            .map(|(king_buckets, hidden)| random_network(king_buckets, hidden, 1));
        for (first, second) in [(&large, &small), (&large, &buckets), (&buckets, &large)] {
            let error = mean(&[first.clone(), second.clone()]).unwrap_err().to_string();
            let expected = format!("expected {}", Layout::of(first));
            assert!(error.ends_with(&expected), "{error}");
        }
    }
}
