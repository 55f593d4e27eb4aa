//! The environment variables that describe the simulated machine.

use std::env;
use std::time::Duration;

/// Work that waits for longer never seems to end.
const LONGEST_LATENCY: Duration = Duration::from_secs(60);

/// The simulated machine; fixed when the driver is initialised.
#[derive(Clone, Debug)]
pub struct Config {
    pub devices: usize,
    /// Memory of each device in bytes.
    pub memory: u64,
    /// How long queued work waits before it starts.
    pub latency: Duration,
    /// Whether the devices can access each other's memory.
    pub peers: bool,
}

impl Config {
    /// An error is a sentence that names the variable and the values that it may have.
    pub fn from_environment() -> Result<Self, String> {
        Ok(Self {
            devices: read("CUDA_SIM_DEVICES", "a number from 0 to 64", 1, |text| {
                text.parse().ok().filter(|&count| count <= 64)
            })?,
            memory: read(
                "CUDA_SIM_MEMORY",
                "a size such as 512M (K, M or G), at most 4096G",
                8 << 30,
                parse_bytes,
            )?,
            latency: read(
                "CUDA_SIM_LATENCY",
                "a number of microseconds, at most 60000000",
                Duration::ZERO,
                parse_latency,
            )?,
            peers: read("CUDA_SIM_PEERS", "on or off", true, parse_switch)?,
        })
    }
}

/// Reads a variable, of which `wanted` says what it may hold.
fn read<T>(
    name: &str,
    wanted: &str,
    default: T,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, String> {
    match env::var(name) {
        Ok(text) if !text.trim().is_empty() => {
            parse(text.trim()).ok_or_else(|| format!("{name} is '{text}', but must be {wanted}"))
        }
        _ => Ok(default),
    }
}

fn parse_switch(text: &str) -> Option<bool> {
    match text {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// A number of microseconds.
fn parse_latency(text: &str) -> Option<Duration> {
    let latency = Duration::from_micros(text.parse().ok()?);
    (latency <= LONGEST_LATENCY).then_some(latency)
}

/// A size in bytes, at most 4 TiB; `K`, `M` and `G` are powers of 1024.
fn parse_bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    (bytes > 0 && bytes <= 4 << 40).then_some(bytes)
}
