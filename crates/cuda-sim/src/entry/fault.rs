//! Counts calls, and injects faults into them.

use std::collections::BTreeMap;
use std::env;
use std::sync::{LazyLock, Mutex, OnceLock};

use crate::base::code::{Code, INVALID_VALUE, Result};
use crate::base::lock;

static CALLS: LazyLock<Mutex<Calls>> = LazyLock::new(Mutex::default);

/// Means every function, in rules and counts.
const ANY: &str = "*";

#[derive(Default)]
struct Calls {
    counts: BTreeMap<&'static str, u64>,
    total: u64,
    rules: Vec<Rule>,
}

/// `NAME:N=CODE`: call number `nth` of `name` fails, and with `onwards` all later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    name: String,
    nth: u64,
    onwards: bool,
    code: Code,
    seen: u64,
}

impl Rule {
    /// Counts a call of `name`; true when it must fail.
    fn applies(&mut self, name: &str) -> bool {
        if self.name != ANY && self.name != name {
            return false;
        }
        self.seen += 1;
        self.seen == self.nth || (self.onwards && self.seen > self.nth)
    }
}

/// Counts a call, and returns the code with which it must fail, if any.
pub fn next_call(function: &'static str) -> Option<Code> {
    let name = plain(function);
    let mut calls = lock(&CALLS);
    calls.total += 1;
    *calls.counts.entry(name).or_default() += 1;
    // Every rule counts the call, so that one rule does not shift another.
    calls.rules.iter_mut().filter_map(|rule| rule.applies(name).then_some(rule.code)).last()
}

/// Replaces the rules by those of `spec`; an empty one clears them.  On failure returns the part of
/// `spec` that is not a rule; the old rules then stay.
pub fn set_rules(spec: &str) -> Result<(), String> {
    let parts = spec.split(',').map(str::trim).filter(|part| !part.is_empty());
    let rules = parts.map(|part| parse_rule(part).ok_or_else(|| part.to_owned()));
    lock(&CALLS).rules = rules.collect::<Result<_, _>>()?;
    Ok(())
}

pub fn load_environment() -> Result {
    static LOADED: OnceLock<Result> = OnceLock::new();
    *LOADED.get_or_init(|| match env::var("CUDA_SIM_FAULT") {
        Ok(spec) => set_rules(&spec).map_err(|part| {
            eprintln!("cuda-sim: '{part}' in CUDA_SIM_FAULT is not a rule; write FUNCTION:N=CODE");
            INVALID_VALUE
        }),
        Err(_) => Ok(()),
    })
}

/// How often `name` was called; `*` means all functions together.
pub fn call_count(name: &str) -> u64 {
    let calls = lock(&CALLS);
    match plain(name) {
        ANY => calls.total,
        name => calls.counts.get(name).copied().unwrap_or(0),
    }
}

/// A line for each function that was called: its name, a space, and how often; in alphabetical order.
pub fn call_counts() -> String {
    lock(&CALLS).counts.iter().map(|(name, count)| format!("{name} {count}\n")).collect()
}

/// The name without the version that the interface appends.
pub fn plain(name: &str) -> &str {
    name.strip_suffix("_v2").unwrap_or(name)
}

fn parse_rule(part: &str) -> Option<Rule> {
    let (place, code) = part.split_once('=')?;
    let (name, nth) = place.rsplit_once(':')?;
    let (nth, onwards) = match nth.strip_suffix('+') {
        Some(nth) => (nth, true),
        None => (nth, false),
    };
    let nth = nth.parse().ok().filter(|&nth| nth > 0)?;
    Some(Rule { name: plain(name).to_owned(), nth, onwards, code: code.parse().ok()?, seen: 0 })
}
