//! How much memory is available, and what machine this is.
//!
//! Systems promise more than they have, and kill the process that takes them at
//! their word: large sizes are checked against this first.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

/// Left for everything else on the machine, in bytes.
const RESERVE: u64 = 64 << 20;

/// Bytes that this program can still use without pushing others out of memory, within
/// the limits of its container; `None` if the system does not say.
pub fn available() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let free = system.available_memory().saturating_sub(RESERVE);
    let limit = container(&mut system).unwrap_or(u64::MAX);
    Some(free.min(limit))
}

/// What the container's limit leaves. Pages of files are not counted as used: the
/// system drops them when others need the memory.
fn container(system: &mut System) -> Option<u64> {
    let id = sysinfo::get_current_pid().ok()?;
    let kind = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, kind);
    let limits = system.process(id)?.cgroup_limits()?;
    Some(limits.total_memory.saturating_sub(limits.rss).saturating_sub(RESERVE))
}

/// What the system tells of the machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor's name, as its maker writes it.
    pub processor: String,
    /// Name and version of the system.
    pub system: String,
    /// Cores, however many threads each of them runs.
    pub physical_cores: Option<usize>,
    /// Bytes.
    pub memory: u64,
}

/// Asks the system what machine this is.
pub fn machine() -> Machine {
    let mut processor = String::new();
    let mut memory = 0;
    if let Ok(mut system) = System::new() {
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        system.refresh_cpu_list(CpuRefreshKind::nothing());
        memory = system.total_memory();
        processor =
            system.cpus().first().map_or_else(String::new, |cpu| cpu.brand().trim().to_owned());
    }
    let system = System::long_os_version().unwrap_or_else(|_| std::env::consts::OS.to_owned());
    Machine { processor, system, physical_cores: System::physical_core_count().ok(), memory }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some() {
        let available = available().unwrap();
        assert!((1 << 20..1 << 50).contains(&available), "{available}");
    }
}
