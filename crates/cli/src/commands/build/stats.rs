//! The time of each transformer, as a table.

use std::time::Duration;

use crate::output::table;
use krm_template_composition::chain::Stat;

/// A row for each transformer, and one for the total.
pub(super) fn table(stats: &[Stat]) -> String {
    let total: Duration = stats.iter().map(|stat| stat.time).sum();
    let count = stats.last().map_or(0, |last| last.count);
    let row =
        |name: &str, count: usize, time| [name.to_owned(), count.to_string(), milliseconds(time)];
    let rows = stats.iter().map(|stat| row(&stat.name, stat.count, stat.time));
    let rows = rows.chain([row("total", count, total)]);
    table::of_numbers(["TRANSFORMER", "RESOURCES", "TIME"], rows)
}

fn milliseconds(time: Duration) -> String {
    format!("{:7.1} ms", time.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::{Stat, table};

    #[test]
    fn a_table_names_each_transformer_and_the_whole() {
        let stat = |name: &str, micros, count| Stat {
            name: name.to_owned(),
            time: Duration::from_micros(micros),
            count,
        };
        let stats = [
            stat("ResourceAccumulator resources", 1_234_560, 1_000),
            stat("Template web", 50, 1_002),
        ];
        expect![[r#"
            TRANSFORMER                    RESOURCES        TIME
            ResourceAccumulator resources       1000   1234.6 ms
            Template web                        1002      0.1 ms
            total                               1002   1234.6 ms
        "#]]
        .assert_eq(&table(&stats));
    }
}
