//! Numbers that an executor reports: counts of tests, and coverage.

use std::fmt;

use serde::de;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use workspace::config::CoverageThresholds;

use crate::fault::{Fault, Kind};
use crate::next_step::argument;

/// Counts of tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
    /// Could not be compiled or collected.
    pub errors: u64,
}

impl Counts {
    /// Tests that did not pass though they should have run.
    pub fn failing(&self) -> u64 {
        self.failed.saturating_add(self.errors)
    }

    /// Tests that ran, or should have.
    pub fn ran(&self) -> u64 {
        self.passed.saturating_add(self.failing())
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.ran().saturating_add(self.skipped)
    }

    /// The same, less some that failed: these may.
    #[must_use]
    pub fn without_failing(self, many: u64) -> Self {
        let of_errors = many.saturating_sub(self.failed);
        Self {
            failed: self.failed.saturating_sub(many),
            errors: self.errors.saturating_sub(of_errors),
            ..self
        }
    }

    /// The counts as facts, by the names that guards know.
    pub fn facts(&self) -> Map<String, Value> {
        [
            ("passed", self.passed),
            ("failed", self.failed),
            ("errors", self.errors),
            ("skipped", self.skipped),
            ("failing", self.failing()),
            ("ran", self.ran()),
            ("total", self.total()),
        ]
        .into_iter()
        .map(|(name, number)| (name.to_owned(), number.into()))
        // Whoever knows better says so.
        .chain([("compiled".to_owned(), Value::Bool(false))])
        .collect()
    }

    /// Reads `failed:3,passed:0,skipped:1,errors:0` in any order, or a JSON object.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let given = pairs(text, "results")?;
        let mut counts = Self::default();
        let mut total = None;
        let mut named = false;
        for (name, value) in &given {
            let number = whole(name, value)?;
            match name.as_str() {
                "passed" => counts.passed = number,
                "failed" => counts.failed = number,
                "skipped" => counts.skipped = number,
                "errors" => counts.errors = number,
                "total" => total = Some(number),
                other => {
                    return Err(bad_results(format!("`{other}` is no count of tests"))
                        .suggest("use passed, failed, skipped, errors and total"));
                }
            }
            named |= matches!(name.as_str(), "passed" | "failed");
        }
        if !named {
            return Err(
                bad_results("neither `passed` nor `failed` is given".to_owned()).suggest(concat!(
                    "say how many tests failed and passed, such as ",
                    argument!("results"),
                    " failed:3,passed:0"
                )),
            );
        }
        if let Some(total) = total
            && total != counts.total()
        {
            return Err(bad_results(format!(
                "the total is said to be {total}, but the counts add up to {}",
                counts.total()
            ))
            .suggest("give each count as the test runner printed it, or leave the total out"));
        }
        Ok(counts)
    }
}

fn is_under(name: &str, value: f64, threshold: f64) -> Option<String> {
    (value < threshold).then(|| format!("{name} {value}% (threshold {threshold}%)"))
}

/// Coverage in percent, by metric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<f64>,
    /// Branches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<f64>,
    /// Functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<f64>,
    /// Statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<f64>,
    /// Lines that the item in hand has changed.
    #[serde(
        default,
        rename = "changedLines",
        skip_serializing_if = "Option::is_none"
    )]
    pub changed_lines: Option<f64>,
}

impl Coverage {
    /// Reads a bare number (lines), `lines:92,branches:80`, or a JSON object.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut coverage = Self::default();
        let bare = text.trim().trim_end_matches('%');
        if let Ok(lines) = bare.parse::<f64>() {
            coverage.lines = Some(percent("coverage", lines)?);
            return Ok(coverage);
        }
        for (name, value) in pairs(text, "coverage")? {
            let number = value
                .as_f64()
                .or_else(|| {
                    value
                        .as_str()
                        .and_then(|text| text.trim_end_matches('%').parse().ok())
                })
                .ok_or_else(|| bad_coverage(format!("`{name}` is {value}, which is no number")))?;
            let number = percent(&name, number)?;
            match name.as_str() {
                "lines" => coverage.lines = Some(number),
                "branches" => coverage.branches = Some(number),
                "functions" => coverage.functions = Some(number),
                "statements" => coverage.statements = Some(number),
                other => return Err(bad_coverage(format!("`{other}` is no metric of coverage"))),
            }
        }
        Ok(coverage)
    }

    /// The metrics under their threshold, each with value and threshold in words.
    pub fn under(&self, thresholds: &CoverageThresholds) -> Vec<String> {
        let under = self.against(thresholds).into_iter();
        under
            .filter_map(|(name, value, threshold)| is_under(name, value?, threshold))
            .collect()
    }

    /// The same of the lines that were changed.
    pub fn changed_lines_under(&self, threshold: Option<f64>) -> Option<String> {
        is_under("changed lines", self.changed_lines?, threshold?)
    }

    /// The metrics that have a threshold, but no value.
    pub fn missing(&self, thresholds: &CoverageThresholds) -> Vec<&'static str> {
        self.against(thresholds)
            .into_iter()
            .filter(|(_, value, _)| value.is_none())
            .map(|(name, _, _)| name)
            .collect()
    }

    fn against(&self, thresholds: &CoverageThresholds) -> Vec<(&'static str, Option<f64>, f64)> {
        [
            ("lines", self.lines, thresholds.lines),
            ("branches", self.branches, thresholds.branches),
            ("functions", self.functions, thresholds.functions),
            ("statements", self.statements, thresholds.statements),
        ]
        .into_iter()
        .filter_map(|(name, value, threshold)| Some((name, value, threshold?)))
        .collect()
    }
}

fn pairs(text: &str, what: &str) -> Result<Map<String, Value>, Fault> {
    let fault = |message: String| {
        let fault = if what == "results" {
            bad_results(message)
        } else {
            bad_coverage(message)
        };
        fault.suggest(if what == "results" {
            concat!(
                "write ",
                argument!("results"),
                " failed:3,passed:0, or a JSON object with the same names"
            )
        } else {
            concat!(
                "write ",
                argument!("coverage"),
                " 92, or ",
                argument!("coverage"),
                " lines:92,branches:80, in percent"
            )
        })
    };
    let trimmed = text.trim();
    if trimmed.starts_with('{') {
        return serde_json::from_str::<UniqueKeys>(trimmed)
            .map(|once| once.0)
            .map_err(|error| fault(format!("the {what} are no JSON object: {error}")));
    }
    let mut map = Map::new();
    for pair in trimmed.split(',') {
        let Some((name, value)) = pair.split_once([':', '=']) else {
            return Err(fault(format!("`{}` is no name and number", pair.trim())));
        };
        let name = name.trim().to_lowercase();
        if map
            .insert(name.clone(), Value::from(value.trim()))
            .is_some()
        {
            return Err(fault(format!("`{name}` is given twice")));
        }
    }
    Ok(map)
}

/// A JSON object in which no name is given twice: of two counts nobody could tell which is meant.
struct UniqueKeys(Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = UniqueKeys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<UniqueKeys, A::Error> {
                let mut map = Map::new();
                while let Some((name, value)) = members.next_entry::<String, Value>()? {
                    if map.contains_key(&name) {
                        return Err(de::Error::custom(format!("`{name}` is given twice")));
                    }
                    map.insert(name, value);
                }
                Ok(UniqueKeys(map))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

fn whole(name: &str, value: &Value) -> Result<u64, Fault> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number
        // More tests than this no suite has; and sums stay far from overflowing.
        .filter(|number| *number <= 1_000_000_000)
        .ok_or_else(|| {
            bad_results(format!(
                "`{name}` is {value}, but must be a whole number, 0 or more"
            ))
            .suggest("give the counts as the test runner printed them")
        })
}

fn percent(name: &str, value: f64) -> Result<f64, Fault> {
    if value.is_finite() && (0.0..=100.0).contains(&value) {
        Ok(value)
    } else {
        Err(bad_coverage(format!(
            "`{name}` is {value}, but must be from 0 to 100"
        )))
    }
}

fn bad_results(message: String) -> Fault {
    Fault::new(Kind::Usage, "usage", message)
}

fn bad_coverage(message: String) -> Fault {
    Fault::new(Kind::Usage, "usage", message).suggest(concat!(
        "write ",
        argument!("coverage"),
        " 92, or ",
        argument!("coverage"),
        " lines:92,branches:80, in percent"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_any_order_and_as_json() {
        let expected = Counts {
            passed: 0,
            failed: 3,
            skipped: 1,
            errors: 2,
        };
        for text in [
            "failed:3,passed:0,skipped:1,errors:2",
            " errors : 2 , skipped:1,passed:0, failed:3 ",
            "FAILED=3,passed=0,skipped=1,errors=2",
            r#"{"failed":3,"passed":0,"skipped":1,"errors":2,"total":6}"#,
        ] {
            assert_eq!(Counts::parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn senseless_counts_are_refused() {
        for text in [
            "",
            "failed:",
            "failed:-1",
            "failed:1e3",
            "skipped:3",
            "failed:1,failed:2",
            "failed:1,total:7",
            "failed:99999999999999999999",
            r#"{"failed":1.5}"#,
            r#"{"failed":null}"#,
            r#"{"failed":1,"failed":0}"#,
            "wins:3",
        ] {
            let fault = Counts::parse(text).unwrap_err();
            let told = (fault.code.as_str(), fault.suggestion.is_empty());
            assert_eq!(told, ("usage", false), "{text}");
        }
    }

    #[test]
    fn coverage_is_lines_where_nothing_else_is_said() {
        assert_eq!(Coverage::parse("92").unwrap().lines, Some(92.0));
        assert_eq!(Coverage::parse("92.5%").unwrap().lines, Some(92.5));
        let both = Coverage::parse("lines:92,branches:80").unwrap();
        assert_eq!((both.lines, both.branches), (Some(92.0), Some(80.0)));
        for text in ["", "x", "-1", "101", "NaN", "inf", "rows:3", "lines:x"] {
            let fault = Coverage::parse(text).unwrap_err();
            assert_eq!(fault.code, "usage", "{text}");
        }
    }

    #[test]
    fn thresholds_hold_only_where_they_are_set() {
        let thresholds = CoverageThresholds {
            lines: Some(80.0),
            branches: Some(70.0),
            ..CoverageThresholds::default()
        };
        let coverage = Coverage {
            lines: Some(79.5),
            ..Coverage::default()
        };
        assert_eq!(coverage.under(&thresholds), ["lines 79.5% (threshold 80%)"]);
        assert_eq!(coverage.missing(&thresholds), ["branches"]);
    }
}
