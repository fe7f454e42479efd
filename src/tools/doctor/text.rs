//! The report for people.

use super::{
    measure::{Lateness, Timers},
    report::Report,
};
use crate::chess::notation;

/// The report, line by line.
pub fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![format!("Lancet {}", report.version), String::new()];
    lines.extend(report.build.iter().map(|(what, text)| format!("{what:<13} {text}")));
    lines.push(String::new());
    machine(report, &mut lines);
    lines.extend([String::new(), "Speed (64 MiB of table)".to_owned()]);
    let one = report.speed.first().map_or(1, |speed| speed.nodes_per_second.max(1));
    for speed in &report.speed {
        let factor = speed.nodes_per_second as f64 / one as f64;
        lines.push(format!(
            "  {:>4} {:<7} {:>12} nodes/s  x {factor:.2}",
            speed.threads,
            notation::plural(speed.threads, "thread"),
            speed.nodes_per_second,
        ));
    }
    lines.extend([
        String::new(),
        "Memory of the table (first touch: once; clear: each game)".to_owned(),
    ]);
    for cost in &report.tables {
        lines.push(format!(
            "  {:>7} MiB  first touch {:>9.1} ms  clear {:>8.1} ms  ({} {})",
            cost.mib,
            cost.first_touch_ms,
            cost.clear_ms,
            cost.threads,
            notation::plural(cost.threads, "thread"),
        ));
    }
    let asked = Timers::ASKED.as_millis();
    lines.extend([String::new(), format!("How late {asked} ms end, in ms")]);
    lines.push("                          median   99 of 100   most".to_owned());
    let timers = &report.timers;
    for (what, late) in [
        ("sleep, quiet machine", &timers.sleep_quiet),
        ("search, quiet machine", &timers.search_quiet),
        ("sleep, all cores busy", &timers.sleep_busy),
        ("search, all cores busy", &timers.search_busy),
    ] {
        let Lateness { median_ms, percentile_99_ms, most_ms } = late;
        lines
            .push(format!("  {what:<22} {median_ms:>7.2} {percentile_99_ms:>11.2} {most_ms:>6.2}"));
    }
    lines.extend([String::new(), "Advice".to_owned()]);
    for advice in &report.advice {
        lines.push(format!("  setoption name {} value {}", advice.option, advice.value));
        lines.push(format!("      {}", advice.why));
    }
    lines
}

fn machine(report: &Report, lines: &mut Vec<String>) {
    let machine = &report.machine;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let physical = machine.physical_cores.map_or_else(String::new, |n| format!(", {n} physical"));
    let available = machine
        .available_memory
        .map_or_else(String::new, |bytes| format!(", {:.1} GiB available", gib(bytes)));
    lines.extend([
        format!("Machine     {} ({})", machine.processor, machine.architecture),
        format!("System      {}", machine.system),
        format!("Cores       {}{physical}", machine.logical_cores),
        format!("Memory      {:.1} GiB{available}", gib(machine.memory)),
    ]);
}
