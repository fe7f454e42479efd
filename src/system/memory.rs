//! Available memory, and a description of the machine.
//!
//! Some operating systems overcommit: they grant more memory than they have, and may kill a process
//! that then uses it. Therefore large allocations are first compared with the available memory.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

/// Memory that stays free for other processes, in bytes.
const RESERVE: u64 = 64 << 20;

/// Returns the bytes that this program can still allocate without making the machine swap, within
/// the limits of its container. Returns `None` if the system does not report memory.
pub fn available() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let free = system.available_memory().saturating_sub(RESERVE);
    let limit = container(&mut system).unwrap_or(u64::MAX);
    Some(free.min(limit))
}

/// Returns the bytes that remain below the memory limit of the container. Cached pages of files do
/// not count as used, because the system drops them when it needs the memory.
fn container(system: &mut System) -> Option<u64> {
    let id = sysinfo::get_current_pid().ok()?;
    let kind = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, kind);
    let limits = system.process(id)?.cgroup_limits()?;
    Some(limits.total_memory.saturating_sub(limits.rss).saturating_sub(RESERVE))
}

/// A description of the machine, as the operating system reports it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Name of the processor, as its maker writes it.
    pub processor: String,
    /// Name and version of the operating system.
    pub system: String,
    /// Number of cores, without hardware threads.
    pub physical_cores: Option<usize>,
    /// Total memory in bytes.
    pub memory: u64,
}

/// Returns a description of this machine.
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
