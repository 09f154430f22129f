//! The metrics of the process, on Linux.
//!
//! Source: <https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics>,
//! `proc_pid_stat(5)`, `proc_pid_status(5)`.

use std::fmt;
use std::fs;

use jiff::Timestamp;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rustix::process::{Resource, getrlimit};

/// The clock ticks per second in `/proc`: `USER_HZ` of all processors that Rust supports.
const TICKS: f64 = 100.0;

/// The CPU time, memory and open files of this process.
#[derive(Debug)]
pub(super) struct Process {
    started: Timestamp,
}

/// The values in `/proc/self`; `None` if a value cannot be read.
#[derive(Debug, Default, PartialEq)]
struct Usage {
    processor_seconds: Option<f64>,
    resident_bytes: Option<u64>,
    virtual_bytes: Option<u64>,
    open_files: Option<u64>,
}

impl Process {
    /// Records the current time as the start of the process.
    pub(super) fn new() -> Self {
        Self { started: Timestamp::now() }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let usage = Usage::read();
        if let Some(seconds) = usage.processor_seconds {
            let help = "User and system time spent";
            let counter = MetricType::Counter;
            let metric = encoder.encode_descriptor("process_cpu_seconds", help, None, counter)?;
            ConstCounter::new(seconds).encode(metric)?;
        }
        let gauges = [
            ("process_resident_memory_bytes", "Resident memory", usage.resident_bytes),
            ("process_virtual_memory_bytes", "Virtual memory", usage.virtual_bytes),
            ("process_open_fds", "Open file descriptors", usage.open_files),
            (
                "process_max_fds",
                "The most open file descriptors",
                getrlimit(Resource::Nofile).current,
            ),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                ConstGauge::new(value).encode(metric)?;
            }
        }
        let help = "When the process started, in seconds since 1970";
        let name = "process_start_time_seconds";
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(self.started.as_second()).encode(metric)
    }
}

impl Usage {
    fn read() -> Self {
        let stat = proc_file("/proc/self/stat");
        let status = proc_file("/proc/self/status");
        let open = fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
        Self {
            processor_seconds: processor_seconds(&stat),
            resident_bytes: memory(&status, "VmRSS:"),
            virtual_bytes: memory(&status, "VmSize:"),
            open_files: open.and_then(|count| u64::try_from(count).ok()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel, not of a user")]
fn proc_file(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Parses the user and system time in `/proc/self/stat`. The program name, in parentheses, may
/// itself have spaces and parentheses.
fn processor_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11).take(2).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((f64::from(user) + f64::from(system)) / TICKS)
}

/// Parses a line of `/proc/self/status`, such as `VmRSS:    5120 kB`, and returns the bytes.
fn memory(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_the_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1 0 99 1000 20";
        assert_eq!(processor_seconds(stat), Some(3.0));
        for broken in ["", "7 (a) S 1", "7 (a) S 1 2 3 4 5 6 7 8 9 10 x 50"] {
            assert_eq!(processor_seconds(broken), None, "{broken}");
        }
    }

    #[test]
    fn memory_is_in_bytes() {
        let status = "Name:\tserver\nVmSize:\t   2048 kB\nVmRSS:\t     16 kB\n";
        assert_eq!(memory(status, "VmSize:"), Some(2_097_152));
        assert_eq!(memory(status, "VmRSS:"), Some(16_384));
        assert_eq!(memory(status, "VmSwap:"), None);
        assert_eq!(memory("VmRSS: 16 MB\n", "VmRSS:"), None);
    }
}
