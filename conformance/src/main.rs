//! `conformance`: keeps the results of runs, and renders the pages about them.

use conformance::report::{self, Column};
use conformance::results::Results;
use conformance::{manifest, root};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
conformance table FILE        prints a run's results as a table in Markdown
conformance keep FILE         keeps a run's results as the last ones of their kind of device
conformance render [--check]  writes docs/conformance.md and docs/differences.md from what is kept;
                              with --check only tells whether they are up to date

`python -m pyarrow_cuda_compat conformance --json FILE` replays the cases and writes FILE.";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["table", file] => table(Path::new(file)),
        ["keep", file] => keep(Path::new(file)),
        ["render"] => render(write),
        ["render", "--check"] => render(check),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("conformance: {error}");
        ExitCode::FAILURE
    })
}

fn table(file: &Path) -> io::Result<ExitCode> {
    let results = Results::read(file)?;
    let name = if results.is_simulated() { "Simulator" } else { "GPU" };
    let columns = [Column { name, results: &results }];
    io::stdout().write_all(report::conformance(&manifest::documents()?, &columns).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn keep(file: &Path) -> io::Result<ExitCode> {
    println!("kept: {}", Results::read(file)?.keep()?.display());
    Ok(ExitCode::SUCCESS)
}

/// Renders each page, and passes it with its path to `page`.
fn render(page: fn(&Path, &str) -> io::Result<bool>) -> io::Result<ExitCode> {
    let (simulator, gpu) = (Results::kept(true)?, Results::kept(false)?);
    let columns =
        [Column { name: "Simulator", results: &simulator }, Column { name: "GPU", results: &gpu }];
    let pages = [
        ("conformance", report::conformance(&manifest::documents()?, &columns)),
        ("differences", report::differences(&manifest::differences()?)),
    ];
    let mut well = true;
    for (name, body) in pages {
        let head = fs::read_to_string(root().join("pages").join(format!("{name}.md")))?;
        well &= page(&docs(name), &format!("{head}\n{body}"))?;
    }
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn docs(name: &str) -> PathBuf {
    root().join("../docs").join(format!("{name}.md"))
}

fn write(path: &Path, page: &str) -> io::Result<bool> {
    fs::write(path, page)?;
    Ok(true)
}

fn check(path: &Path, page: &str) -> io::Result<bool> {
    let current = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        current => current?,
    };
    if current != page {
        eprintln!("{} is not what `conformance render` writes", path.display());
    }
    Ok(current == page)
}
