//! Other crates on the shared table of cases, beside relayout and plain copies of as many bytes, on one thread.
//!
//! Takes the cases that are permutations of one element type, which is what the others can do. Arguments are words
//! that a case's line must have, such as `ttc57` or `f32`. Every result is held against relayout's before it is timed,
//! and all take turns in every round. Figures are GB/s read plus written, medians over rounds; the ratio is that of
//! the row's relayout to the best other crate.

mod case;
mod peers;

use std::time::Instant;

use anyhow::Result;
use memmap2::MmapMut;

use case::Permutation;
use peers::PEERS;

/// Lines of `suite | name | problem`.
const CASES: &str = include_str!("../../cases.txt");

const HUGE_PAGE: usize = 2 << 20;
/// Seconds that one measurement lasts at least.
const SHORTEST: f64 = 0.5e-3;
const ROUNDS: usize = 7;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<String> = PEERS.iter().map(|peer| format!("{:>9}", peer.name)).collect();
    println!("   memcpy    stream {}  ratio  case", names.join(" "));
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        if !words.iter().all(|word| line.contains(word.as_str())) {
            continue;
        }
        if let Some(permutation) = case::parse(line)? {
            let seconds = measure(&permutation)?;
            print_row(line, permutation.bytes, &seconds);
        }
    }
    Ok(())
}

/// Seconds of memcpy, of the copy past the cache, and of every peer that can.
fn measure(permutation: &Permutation) -> Result<Vec<Option<f64>>> {
    let (mut src, mut wanted, mut dst) =
        (Buffer::new(permutation.bytes)?, Buffer::new(permutation.bytes)?, Buffer::new(permutation.bytes)?);
    src.bytes()
        .iter_mut()
        .enumerate()
        .for_each(|(i, byte)| *byte = (i.wrapping_mul(2_654_435_761) >> 9) as u8);
    permutation.plan.execute(src.bytes(), wanted.bytes())?;
    let mut ways: Vec<Option<Way<'_>>> = vec![
        Some(Box::new(|src, dst| dst.copy_from_slice(src))),
        Some(Box::new(relayout_kernels::stream_copy)),
    ];
    for peer in PEERS {
        let way = (peer.make)(permutation);
        if let Some(way) = &way {
            dst.bytes().fill(0xa5);
            way(src.bytes(), dst.bytes());
            anyhow::ensure!(dst.bytes() == wanted.bytes(), "{}: another result than relayout's", peer.name);
        }
        ways.push(way);
    }
    let mut rounds = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for (way, rounds) in ways.iter().zip(&mut rounds) {
            if let Some(way) = way {
                rounds.push(seconds(way, src.bytes(), dst.bytes()));
            }
        }
    }
    Ok(rounds.into_iter().map(median).collect())
}

/// One way of filling the destination from the source.
type Way<'a> = Box<dyn Fn(&[u8], &mut [u8]) + 'a>;

/// Seconds of one call, after one that warms up and says how often to repeat.
fn seconds(way: &Way<'_>, src: &[u8], dst: &mut [u8]) -> f64 {
    let once = Instant::now();
    way(src, dst);
    let repeats = (SHORTEST / once.elapsed().as_secs_f64().max(1e-9)).ceil().clamp(1.0, 1e6) as usize;
    let start = Instant::now();
    for _ in 0..repeats {
        way(src, dst);
    }
    start.elapsed().as_secs_f64() / repeats as f64
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn print_row(line: &str, bytes: usize, seconds: &[Option<f64>]) {
    let gbps = |seconds: &Option<f64>| seconds.map(|seconds| 2.0 * bytes as f64 / seconds / 1e9);
    let cells = seconds.iter().map(|seconds| match gbps(seconds) {
        Some(gbps) => format!("{gbps:9.2}"),
        None => format!("{:>9}", "-"),
    });
    let cells: Vec<String> = cells.collect();
    let ours = seconds[2].unwrap_or(f64::NAN);
    let best = seconds[3..].iter().flatten().fold(f64::INFINITY, |best, &other| best.min(other));
    let case = line.rsplit_once(" | ").map_or(line, |(case, _)| case);
    println!("{} {:6.2}  {case}", cells.join(" "), best / ours);
}

/// Bytes from the start of a huge page on, prefaulted.
struct Buffer {
    map: MmapMut,
    start: usize,
    len: usize,
}

impl Buffer {
    fn new(len: usize) -> Result<Buffer> {
        let mut map = MmapMut::map_anon(len + HUGE_PAGE)?;
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage); // advice: without it everybody is slower
        let start = map.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE);
        map.fill(1);
        Ok(Buffer { map, start, len })
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.map[self.start..self.start + self.len]
    }
}
