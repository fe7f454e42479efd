//! Available memory.
//!
//! Some operating systems overcommit: they grant more memory than they have, and may kill a process
//! that then uses it. Therefore large allocations are first compared with the available memory.

use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some() {
        let available = available().unwrap();
        assert!((1 << 20..1 << 50).contains(&available), "{available}");
    }
}
