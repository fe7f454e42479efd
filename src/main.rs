use lancet::{engine::*, position::*, report::*};
struct P;
impl Reporter for P {
    fn info(&self, i: &Info) {
        println!(
            "d {} sd {} s {} {:?} n {} t {:?} pv {}",
            i.depth,
            i.seldepth,
            i.score,
            i.bound,
            i.nodes,
            i.time,
            i.pv.iter()
                .map(|m| m.to_uci(shakmaty::CastlingMode::Standard).to_string())
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let depth = a[1].parse().unwrap();
    let mut e = Engine::new(Settings::default()).unwrap();
    let fens = if a.len() > 2 {
        vec![a[2].clone()]
    } else {
        vec![
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".into(),
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1".into(),
            "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1".into(),
            "r1bq1rk1/pp2ppbp/2np1np1/8/3NP3/2N1BP2/PPPQ2PP/R3KB1R w KQ - 3 9".into(),
        ]
    };
    for f in fens {
        println!("{f}");
        e.new_game();
        let t = std::time::Instant::now();
        let o = e.go(
            &Job::new(
                Game::from(Position::from_fen(&f, shakmaty::CastlingMode::Standard).unwrap()),
                Limits { depth: Some(depth), ..Default::default() },
            ),
            &P,
        );
        println!(
            "{:?} {} nodes {} knps",
            o.best,
            o.info.nodes,
            o.info.nodes as u128 * 1000 / t.elapsed().as_micros()
        );
    }
}
