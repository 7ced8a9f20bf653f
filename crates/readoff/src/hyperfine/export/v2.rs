//! Schema 2: hyperfine 2.x.

use super::{Run, Statistics};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The one metric that every measurement has.
const WALL_CLOCK: &str = "time_wall_clock";

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Export {
    schema_version: u32,
    metadata: Metadata,
    primary_metric: String,
    pub(super) results: Vec<Entry>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Metadata {
    hyperfine_version: String,
    start_time: String,
    platform: Platform,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Platform {
    os: String,
    architecture: String,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// One command's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    command: String,
    /// Only where it differs from `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    measurements: Vec<Measurement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<Value>,
    summary: BTreeMap<String, Summary>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// What was measured in one run: each metric that the machine and this version have, as
/// `"time_wall_clock": {"value": 0.1, "unit": "second"}`, and the exit code; in the file's order.
#[derive(Debug, Clone, PartialEq)]
struct Measurement(Vec<(String, Field)>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Field {
    Quantity(Quantity),
    Other(Value),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Quantity {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
}

/// A metric over all runs of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Summary {
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    count: usize,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    min: f64,
    max: f64,
}

impl Entry {
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }

    pub(super) fn runs(&self) -> Vec<Run> {
        let run = |measurement: &Measurement| {
            let value = |metric| measurement.quantity(metric).map(|quantity| quantity.value);
            Run {
                // Looked for when the file was read.
                seconds: value(WALL_CLOCK).unwrap_or(f64::NAN),
                user: value("time_user"),
                system: value("time_system"),
                peak_memory: value("memory_peak_resident").map(|bytes| bytes as u64),
                exit_code: measurement.exit_code(),
            }
        };
        self.measurements.iter().map(run).collect()
    }

    pub(super) fn append(&mut self, more: Entry) {
        self.measurements.extend(more.measurements);
    }

    /// A metric that is missing in any run has no summary.
    pub(super) fn summarize(&mut self) {
        self.summary.clear();
        let Some(first) = self.measurements.first() else {
            return;
        };
        for (metric, field) in &first.0 {
            let Field::Quantity(Quantity { unit, .. }) = field else {
                continue;
            };
            let values: Option<Vec<f64>> = self
                .measurements
                .iter()
                .map(|run| run.quantity(metric).map(|quantity| quantity.value))
                .collect();
            if let Some(values) = values {
                self.summary
                    .insert(metric.clone(), Summary::of(&values, unit.clone()));
            }
        }
    }
}

impl Summary {
    fn of(values: &[f64], unit: Option<String>) -> Summary {
        let Statistics {
            mean,
            median,
            min,
            max,
            count,
            squares,
        } = Statistics::of(values);
        let stddev = (count > 1).then(|| ((1.0 / (count - 1) as f64) * squares).sqrt());
        Summary {
            unit,
            count,
            mean,
            stddev,
            median,
            min,
            max,
        }
    }
}

impl Measurement {
    fn field(&self, name: &str) -> Option<&Field> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, field)| field)
    }

    fn quantity(&self, metric: &str) -> Option<&Quantity> {
        match self.field(metric)? {
            Field::Quantity(quantity) => Some(quantity),
            Field::Other(_) => None,
        }
    }

    fn exit_code(&self) -> Option<i32> {
        match self.field("exit_code")? {
            Field::Other(value) => i32::try_from(value.as_i64()?).ok(),
            Field::Quantity(_) => None,
        }
    }
}

impl Serialize for Measurement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, field)| (key, field)))
    }
}

impl<'de> Deserialize<'de> for Measurement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Measurement;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a measurement")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Measurement, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                let measurement = Measurement(fields);
                match measurement.quantity(WALL_CLOCK) {
                    Some(_) => Ok(measurement),
                    None => Err(A::Error::missing_field(WALL_CLOCK)),
                }
            }
        }
        deserializer.deserialize_map(Fields)
    }
}
