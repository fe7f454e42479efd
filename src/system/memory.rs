//! How much memory there is to be had.
//!
//! Systems promise more than they have, and kill the process that takes them at
//! their word: what is large is held against this first.

use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

/// What everything else on the machine may need in the meantime, in bytes.
const RESERVE: u64 = 64 << 20;

/// Bytes that a program can still use without driving others out, within the limits
/// of its container; `None` if the system does not tell.
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some() {
        let available = available().unwrap();
        assert!((1 << 20..1 << 50).contains(&available), "{available}");
    }
}
