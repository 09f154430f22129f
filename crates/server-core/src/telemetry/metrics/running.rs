//! Gauges of the current activity, collected on each scrape.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::flow_control::admission::{Admission, Class};

/// The requests in flight, the watches and the connections.
#[derive(Debug)]
pub(super) struct Running(pub(super) Admission);

impl Collector for Running {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let gauge = MetricType::Gauge;
        let help = "Requests in flight, except watches";
        let mut in_flight = encoder.encode_descriptor("in_flight", help, None, gauge)?;
        for (class, label) in [(Class::Read, "read"), (Class::Write, "write")] {
            let labels = [("class", label)];
            let family = in_flight.encode_family(&labels)?;
            ConstGauge::new(count(self.0.taken(class))).encode(family)?;
        }
        let others = [
            ("watches", "Open watches", Class::Watch),
            ("connections", "Open connections", Class::Connection),
        ];
        for (name, help, class) in others {
            let gauge = encoder.encode_descriptor(name, help, None, gauge)?;
            ConstGauge::new(count(self.0.taken(class))).encode(gauge)?;
        }
        Ok(())
    }
}

fn count(taken: usize) -> i64 {
    i64::try_from(taken).unwrap_or(i64::MAX)
}
