//! The machine that figures were measured on: its name, and how fast its memory is.

use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// Numbers of an array of the triad: three of them are larger than the caches of a processor.
const TRIAD: usize = 1 << 23;
const TRIAD_RUNS: usize = 5;
const PIECE: usize = 1 << 14;

/// What the system tells about itself.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Machine {
    /// Model of the processor; empty where the system does not say.
    pub(super) cpu: String,
    /// Processors that the program may use.
    pub(super) cores: usize,
    /// Memory (bytes), where the system says.
    pub(super) memory_bytes: Option<u64>,
}

impl Machine {
    pub(super) fn read() -> Self {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Self {
            cpu: model.map(|(_, name)| name.trim().to_owned()).unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: field("/proc/meminfo", "MemTotal:"),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cpu = if self.cpu.is_empty() { "processor of unknown model" } else { &self.cpu };
        write!(f, "{cpu}, {} processors", self.cores)?;
        self.memory_bytes.map_or(Ok(()), |bytes| write!(f, ", {:.0} GB", bytes as f64 * 1e-9))
    }
}

/// Most memory that this process has had at a time (bytes), where the system says.
pub(super) fn peak_memory() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// A figure in kB of a file of Linux (bytes).
fn field(path: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix(name))?;
    kilobytes.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Bytes per second of `a = b + s c` on all threads of the pool, best of five: 24 bytes for each number.
pub(super) fn triad() -> f64 {
    let (b, c) = (vec![1.0f64; TRIAD], vec![2.0f64; TRIAD]);
    let mut a = vec![0.0f64; TRIAD];
    let mut best = f64::INFINITY;
    for _ in 0..TRIAD_RUNS {
        let clock = Instant::now();
        a.par_chunks_mut(PIECE).zip(b.par_chunks(PIECE).zip(c.par_chunks(PIECE))).for_each(|(a, (b, c))| {
            for (a, (b, c)) in a.iter_mut().zip(b.iter().zip(c)) {
                *a = b + 3.0 * c;
            }
        });
        best = best.min(clock.elapsed().as_secs_f64());
        std::hint::black_box(&a);
    }
    24.0 * TRIAD as f64 / best
}
