//! `lancet-train average`: the mean of several networks.
//!
//! Source: M. Wortsman and others, "Model soups: averaging weights of multiple fine-tuned
//! models improves accuracy without increasing inference time", 2022.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
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
    #[arg(long, value_name = "NET")]
    out: PathBuf,
    /// Replace NET if it exists
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

/// Returns the network whose parameters are the rounded means of the parameters of `networks`.
///
/// # Errors
///
/// If `networks` is empty, or they differ in shape.
fn mean(networks: &[Network]) -> anyhow::Result<Network> {
    let layout = networks.first().map(Layout::of).context("no network to average")?;
    let share = f32x8::splat(1.0 / networks.len() as f32);
    let mut sums = vec![f32x8::ZERO; layout.len()];
    for network in networks {
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

    fn random_network(hidden: usize, buckets: usize, seed: u64) -> Network {
        let layout = Layout { king_buckets: 1, hidden, buckets };
        layout.quantise(&layout.initial(seed, 0.15), "random, for a test").unwrap()
    }

    #[test]
    fn numbers_are_means() {
        let networks = [1, 2, 3].map(|seed| random_network(64, 2, seed));
        let alone = mean(&networks[..1]).unwrap();
        assert_eq!(alone.parameters().weights, networks[0].parameters().weights);
        let all = mean(&networks).unwrap();
        let weights = networks.each_ref().map(|network| network.parameters().weights);
        for (i, &weight) in all.parameters().weights.iter().enumerate() {
            let sum: i32 = weights.iter().map(|weights| i32::from(weights[i])).sum();
            assert!((i32::from(weight) * 3 - sum).abs() <= 1, "{weight} {sum}");
        }
        for network in &networks {
            assert!(all.provenance().contains(&network.name()), "{}", all.provenance());
        }
    }

    #[test]
    fn shapes_must_be_one() {
        let error = mean(&[random_network(64, 2, 1), random_network(32, 2, 1)]).unwrap_err();
        assert!(error.to_string().contains("expected a network of 64 hidden neurons"), "{error}");
        assert!(mean(&[]).is_err());
    }
}
