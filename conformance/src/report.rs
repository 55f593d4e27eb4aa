//! The manifest with the results of runs, in Markdown.

use crate::manifest::{Difference, Document, Item, Shown};
use crate::results::{Outcome, Results, by_name};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A run under the name of its column.
pub struct Column<'a> {
    /// The heading.
    pub name: &'a str,
    /// Its results.
    pub results: &'a Results,
}

/// The page of documented items: the case that shows each, and its outcome in each run.
pub fn conformance(documents: &[Document], columns: &[Column<'_>]) -> String {
    let mut page = String::new();
    runs(&mut page, columns);
    let outcomes: Vec<_> = columns.iter().map(|column| by_name(&column.results.cases)).collect();
    summary(&mut page, documents, columns, &outcomes);
    for document in documents {
        let _ = write!(page, "\n## {}\n\n{}\n\n", document.document, link(&document.source));
        let _ = write!(
            page,
            "<details class=\"cases\">\n<summary>{} items</summary>\n\n",
            document.items.len()
        );
        let mut head = vec!["Section", "Name", "What is documented", "Case"];
        head.extend(columns.iter().map(|column| column.name));
        row(&mut page, &head);
        row(&mut page, &vec!["---"; head.len()]);
        for item in &document.items {
            let mut cells = vec![item.section.clone(), name(item), item.what.clone()];
            cells.push(case(item).map_or_else(String::new, |case| format!("`{case}`")));
            cells.extend(outcomes.iter().map(|outcomes| outcome(item, outcomes)));
            row(&mut page, &cells);
        }
        page.push_str("\n</details>\n");
    }
    examples(&mut page, columns);
    failures(&mut page, columns);
    page
}

/// The page of intended differences, and the case or test that shows each.
pub fn differences(table: &[Difference]) -> String {
    let mut page = String::from("<div class=\"differences\">\n\n");
    row(&mut page, &["What", "Upstream", "Here", "Why", "Shown by"]);
    row(&mut page, &["---"; 5]);
    for difference in table {
        let proof = difference.case.as_ref().or(difference.test.as_ref());
        let proof = proof.map_or_else(String::new, |proof| format!("`{proof}`"));
        let Difference { topic, upstream, here, why, .. } = difference;
        row(&mut page, &[topic, upstream, here, why, &proof]);
    }
    page.push_str("\n</div>\n");
    page
}

/// The machine of each column.
fn runs(page: &mut String, columns: &[Column<'_>]) {
    let names: Vec<_> = columns.iter().map(|column| column.name).collect();
    row(page, &[&[""], &names[..]].concat());
    row(page, &vec!["---"; columns.len() + 1]);
    let mut line = |label: &str, cell: &dyn Fn(&Results) -> String| {
        let cells = columns.iter().map(|column| cell(column.results));
        let cells: Vec<_> = std::iter::once(label.to_owned()).chain(cells).collect();
        row(page, &cells);
    };
    line("Date", &|results| results.date.clone());
    line("Devices", &devices);
    line("Driver", &|results| text(results, "/driver/version"));
    line("This package", &|results| text(results, "/version"));
    line("Python", &|results| text(results, "/python"));
    line("pyarrow", &|results| text(results, "/pyarrow/version"));
    line("Other packages", &packages);
    line("Cases", &|results| counts(&results.cases));
    line("Docstring examples, by module and class", &|results| counts(&results.examples));
}

fn devices(results: &Results) -> String {
    let devices = results.fact("/devices").and_then(Value::as_array);
    let mut counted = BTreeMap::new();
    for device in devices.into_iter().flatten() {
        *counted.entry(device["name"].as_str().unwrap_or_default()).or_insert(0) += 1;
    }
    let counted = counted.iter().map(|(name, count)| format!("{count} × {name}"));
    counted.collect::<Vec<_>>().join(", ")
}

fn packages(results: &Results) -> String {
    let packages = results.fact("/packages").and_then(Value::as_object);
    let packages = packages.into_iter().flatten();
    let found =
        packages.filter_map(|(name, version)| Some(format!("{name} {}", version.as_str()?)));
    found.collect::<Vec<_>>().join(", ")
}

fn counts(outcomes: &[Outcome]) -> String {
    let count = |status| outcomes.iter().filter(|case| case.status == status).count();
    let counted = ["passed", "failed", "skipped"].map(|status| (status, count(status)));
    let counted = counted.iter().filter(|(_, count)| *count > 0);
    counted.map(|(status, count)| format!("{count} {status}")).collect::<Vec<_>>().join(", ")
}

fn text(results: &Results, pointer: &str) -> String {
    match results.fact(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// The number of items of each document, and how many of them passed.
fn summary(
    page: &mut String,
    documents: &[Document],
    columns: &[Column<'_>],
    outcomes: &[BTreeMap<&str, &Outcome>],
) {
    page.push('\n');
    let mut head = vec!["Document", "Items", "With a case", "Left out"];
    let passed: Vec<_> = columns.iter().map(|column| format!("Passed: {}", column.name)).collect();
    head.extend(passed.iter().map(String::as_str));
    row(page, &head);
    row(page, &vec!["---"; head.len()]);
    for document in documents {
        let count = |wanted: &dyn Fn(&Item) -> bool| {
            document.items.iter().filter(|item| wanted(item)).count()
        };
        let mut cells = vec![
            document.document.clone(),
            document.items.len().to_string(),
            count(&|item| case(item).is_some()).to_string(),
            count(&|item| case(item).is_none()).to_string(),
        ];
        for outcomes in outcomes {
            cells.push(count(&|item| outcome(item, outcomes) == "passed").to_string());
        }
        row(page, &cells);
    }
}

/// The modules and classes of the package whose docstrings have examples, with the outcomes.
fn examples(page: &mut String, columns: &[Column<'_>]) {
    page.push_str("\n## Docstring examples\n\n");
    let mut head = vec!["Module or class"];
    head.extend(columns.iter().map(|column| column.name));
    row(page, &head);
    row(page, &vec!["---"; head.len()]);
    let outcomes = columns.iter().map(|column| by_name(&column.results.examples));
    let outcomes: Vec<_> = outcomes.collect();
    let names: BTreeSet<_> = outcomes.iter().flat_map(BTreeMap::keys).copied().collect();
    for name in names {
        let mut cells = vec![format!("`{}`", name.trim_start_matches("examples/"))];
        cells.extend(outcomes.iter().map(|outcomes| status(name, outcomes)));
        row(page, &cells);
    }
}

/// How what the failed cases and examples print differs from what is documented.
fn failures(page: &mut String, columns: &[Column<'_>]) {
    for column in columns {
        let outcomes = column.results.cases.iter().chain(&column.results.examples);
        for case in outcomes.filter(|case| case.status == "failed") {
            let Outcome { name, detail, .. } = case;
            let _ = write!(page, "\n## {name} failed: {}\n\n```diff\n{detail}\n```\n", column.name);
        }
    }
}

fn outcome(item: &Item, outcomes: &BTreeMap<&str, &Outcome>) -> String {
    match &item.shown {
        Shown::LeftOut(reason) => format!("left out: {reason}"),
        Shown::By(case) => status(case, outcomes),
    }
}

fn status(name: &str, outcomes: &BTreeMap<&str, &Outcome>) -> String {
    match outcomes.get(name).map(|outcome| (outcome.status.as_str(), &outcome.detail)) {
        None => "not run".to_owned(),
        Some(("skipped", lacking)) => format!("skipped: {lacking}"),
        Some((status, _)) => status.to_owned(),
    }
}

fn case(item: &Item) -> Option<&str> {
    match &item.shown {
        Shown::By(case) => Some(case),
        Shown::LeftOut(_) => None,
    }
}

fn name(item: &Item) -> String {
    match &item.parameter {
        None => format!("`{}`", item.name),
        Some(parameter) => format!("`{}`: `{parameter}`", item.name),
    }
}

fn link(source: &str) -> String {
    if source.starts_with("https://") { format!("<{source}>") } else { source.to_owned() }
}

fn row(page: &mut String, cells: &[impl AsRef<str>]) {
    for cell in cells {
        let _ = write!(page, "| {} ", cell.as_ref().replace('|', "\\|").replace('\n', " "));
    }
    page.push_str("|\n");
}
