//! `relayout bench`: the speed of relayouts beside that of plain copies of as many bytes.
//!
//! One line is one pair on so many threads: the median over several distances between source and destination of the
//! median over rounds. In every round the relayout and the copies take turns, so that they meet the same machine, and the
//! copies' times are measured in the relayout's of the same round: a machine's memory changes its speed from second to
//! second.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use memmap2::MmapMut;
use rayon::{ThreadPool, ThreadPoolBuilder};
use relayout::{ArrayShape, Level, Plan, PrimitiveType, Shape};
use relayout_kernels::{stream_copy, stream_prefetch_copy};
use serde_json::{Value, json};

use super::suites::{self, Named};
use super::two_passes::TwoPasses;
use super::{Random, level, parse_problem, plan_builder, print, print_json, samples};
use crate::args::BenchArguments;

const PAGE: usize = 4096;
const HUGE_PAGE: usize = 2 << 20;
/// Seconds that a measurement lasts at least; shorter calls are repeated within it. Longer than what fits a last-level cache
/// takes, which is warm for copies and has to be for everything else.
const SHORTEST: f64 = 2e-3;
/// Seconds for each of the distances.
const BUDGET: f64 = 0.5;
const ROUNDS: std::ops::RangeInclusive<usize> = 5..=50;
/// What is measured, in the order of [`Seconds`].
const MEASURED: usize = 5;

/// Seconds of one call: relayout, memcpy, non-temporal copy, the same with prefetch, and the relayout in two passes, which is 0
/// where there are none.
type Seconds = [f64; MEASURED];

/// What is measured of one pair on so many threads.
struct Case {
    named: Named,
    plan: Plan,
    threads: usize,
    /// Buffers begin at a page, and the destination so many bytes behind one.
    dst_offsets: Vec<usize>,
    pool: ThreadPool,
    two_passes: Option<TwoPasses>,
    bytes_read: i64,
    bytes_written: i64,
}

struct Measurement {
    median: Seconds,
    /// The shortest call of the relayout.
    min: f64,
}

pub(crate) fn run(arguments: &BenchArguments) -> Result<ExitCode> {
    let level = level(arguments.level.as_deref())?;
    let cases = cases(arguments)?;
    if !arguments.json {
        print("   GB/s  memcpy  stream  prefetch  ratio  2 passes  threads  case\n")?;
    }
    for named in &cases {
        for &threads in &arguments.threads {
            let dst_offsets = arguments.dst_offsets.iter().map(|&offset| offset.into()).collect();
            let case = Case::new(named, threads.into(), dst_offsets, level);
            let case = case.with_context(|| named.problem.to_string())?;
            let measured = case.measure()?;
            let facts = case.facts(&measured);
            if arguments.json {
                print_json(&facts)?;
            } else {
                print(&row(&facts))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The pairs given, then the suites.
fn cases(arguments: &BenchArguments) -> Result<Vec<Named>> {
    let mut cases = Vec::new();
    let mut rest = &arguments.pairs[..];
    while let [first, others @ ..] = rest {
        // Lines come alone, shapes two by two.
        let (problem, factors);
        if first.contains("->") {
            let (line, behind) = suites::without_factors(first);
            (problem, factors) = (parse_problem(&[line.to_owned()])?, behind);
            rest = others;
        } else {
            let (pair, others) = rest.split_at(rest.len().min(2));
            (problem, factors) = (parse_problem(pair)?, None);
            rest = others;
        }
        let conversion = suites::conversion(&problem, factors).context("SRC -> DST")?;
        let case = match factors {
            Some(factors) => format!("{problem} | {factors}"),
            None => problem.to_string(),
        };
        cases.push(Named { suite: "pair".to_owned(), case, problem, conversion });
    }
    for suite in &arguments.suite {
        cases.extend(suites::cases(suite)?);
    }
    Ok(cases)
}

impl Case {
    fn new(named: &Named, threads: usize, dst_offsets: Vec<usize>, level: Level) -> Result<Case> {
        let Named { problem, conversion, .. } = named;
        let plan = plan_builder(&problem.src, &problem.dst, Some(threads))?;
        let plan = plan.conversion(conversion.clone()).level(level).build()?;
        // Padding is not counted: it is what a layout costs, not what was asked to be moved.
        let (bytes_read, bytes_written) = (dense(&problem.src)?, dense(&problem.dst)?);
        if bytes_read == 0 {
            bail!("nothing to measure, the array has no elements");
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        samples::check(problem, conversion, &plan)?;
        let two_passes = TwoPasses::new(&problem.src, &problem.dst, conversion, threads, level)?;
        Ok(Case {
            named: named.clone(),
            plan,
            threads,
            dst_offsets,
            pool,
            two_passes,
            bytes_read,
            bytes_written,
        })
    }

    /// Bytes that a copy moves to read and write as many as the relayout.
    fn copied(&self) -> usize {
        usize::try_from((self.bytes_read + self.bytes_written) / 2).unwrap_or(0)
    }

    fn measure(&self) -> Result<Measurement> {
        let between = self.two_passes.as_ref().map_or(0, TwoPasses::byte_size_between);
        let mut buffers = Buffers {
            src: Aligned::new(self.plan.src_byte_size().max(self.copied()))?,
            dst: Aligned::new(self.plan.dst_byte_size().max(self.copied()) + PAGE)?,
            between: Aligned::new(between)?,
        };
        self.fill(buffers.src.from(0))?;
        let rounds: Vec<Vec<Seconds>> = self
            .dst_offsets
            .iter()
            .map(|&offset| self.pool.install(|| self.rounds(buffers.at(offset))))
            .collect::<Result<_>>()?;
        let relayout = medians(&rounds, |round| round[0]);
        Ok(Measurement {
            median: std::array::from_fn(|which| relayout * medians(&rounds, |round| round[which] / round[0])),
            min: rounds.iter().flatten().map(|round| round[0]).fold(f64::INFINITY, f64::min),
        })
    }

    /// Fills a buffer with what is moved: any bits, but for floats that are multiplied. Of those, one in some hundred would be
    /// so close to zero that a processor takes a hundred times as long for its product; of what people multiply, hardly any.
    fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        let mut random = Random::new(0);
        random.fill(bytes);
        let element_type = self.plan.src().element_type();
        if self.named.conversion.scale().is_some() && element_type.is_floating_point() {
            const COUNT: usize = 4096;
            let shape = |of| Shape::from(ArrayShape::new(of, [COUNT as i64]));
            let plan = Plan::new(&shape(PrimitiveType::F32), &shape(element_type))?;
            let mut number = || 1.0 + random.below(1 << 20) as f32 / (1 << 20) as f32;
            let numbers: Vec<u8> = (0..COUNT).flat_map(|_| number().to_le_bytes()).collect();
            let mut some = vec![0; plan.dst_byte_size()];
            plan.execute(&numbers, &mut some)?;
            bytes.chunks_mut(some.len()).for_each(|chunk| chunk.copy_from_slice(&some[..chunk.len()]));
        }
        Ok(())
    }

    fn rounds(&self, mut slices: Slices) -> Result<Vec<Seconds>> {
        // The first round brings everything into its place and says how often a call must be repeated.
        let mut repeats = [1; MEASURED];
        let first = self.round(&mut slices, repeats)?;
        for (repeats, seconds) in repeats.iter_mut().zip(first) {
            *repeats = (SHORTEST / seconds.max(1e-9)).ceil().clamp(1.0, 1e6) as usize;
        }
        let expected: f64 =
            first.iter().zip(repeats).map(|(seconds, repeats)| seconds * repeats as f64).sum();
        let rounds = ((BUDGET / expected) as usize).clamp(*ROUNDS.start(), *ROUNDS.end());
        (0..rounds).map(|_| self.round(&mut slices, repeats)).collect()
    }

    fn round(&self, slices: &mut Slices, repeats: [usize; MEASURED]) -> Result<Seconds> {
        let Slices { src, dst, between } = slices;
        let from = &src[..self.plan.src_byte_size()];
        let into = &mut dst[..self.plan.dst_byte_size()];
        let relayout = seconds(repeats[0], || Ok(self.plan.execute(from, into)?))?;
        let two_passes = match &self.two_passes {
            Some(two_passes) => seconds(repeats[4], || two_passes.execute(from, between, into))?,
            None => 0.0,
        };
        let (src, dst) = (&src[..self.copied()], &mut dst[..self.copied()]);
        let mut copy = |repeats, copy: fn(&[u8], &mut [u8])| {
            seconds(repeats, || {
                self.copy(copy, src, dst);
                Ok(())
            })
        };
        Ok([
            relayout,
            copy(repeats[1], |src, dst| dst.copy_from_slice(src))?,
            copy(repeats[2], stream_copy)?,
            copy(repeats[3], stream_prefetch_copy)?,
            two_passes,
        ])
    }

    /// A copy on as many threads as the relayout.
    fn copy(&self, copy: fn(&[u8], &mut [u8]), src: &[u8], dst: &mut [u8]) {
        if self.threads == 1 {
            return copy(src, dst);
        }
        let part = src.len().div_ceil(self.threads).next_multiple_of(PAGE);
        rayon::scope(|scope| {
            for (src, dst) in src.chunks(part).zip(dst.chunks_mut(part)) {
                scope.spawn(move |_| copy(src, dst));
            }
        });
    }

    fn facts(&self, measured: &Measurement) -> Value {
        let bytes = (self.bytes_read + self.bytes_written) as f64;
        let [gbps, memcpy, stream, prefetch, two_passes] =
            measured.median.map(|seconds| bytes / seconds / 1e9);
        json!({
            "suite": self.named.suite,
            "case": self.named.case,
            "src": self.named.problem.src.to_string(),
            "dst": self.named.problem.dst.to_string(),
            "threads": self.threads,
            "level": self.plan.level().to_string(),
            "kernel": self.plan.explain().kernels.join("+"),
            "bytes_read": self.bytes_read,
            "bytes_written": self.bytes_written,
            "seconds_median": measured.median[0],
            "seconds_min": measured.min,
            "gbps": gbps,
            "memcpy_gbps": memcpy,
            "stream_copy_gbps": stream,
            "stream_prefetch_copy_gbps": prefetch,
            "two_passes_gbps": self.two_passes.as_ref().map(|_| two_passes),
            "ratio": gbps / stream,
            "memcpy_ratio": gbps / memcpy,
        })
    }
}

/// A line of the table.
fn row(facts: &Value) -> String {
    let number = |field: &str| facts[field].as_f64().unwrap_or_default();
    let two_passes =
        facts["two_passes_gbps"].as_f64().map_or_else(|| "-".to_owned(), |gbps| format!("{gbps:.2}"));
    format!(
        "{:7.2} {:7.2} {:7.2} {:9.2} {:6.2} {two_passes:>9} {:8}  {}\n",
        number("gbps"),
        number("memcpy_gbps"),
        number("stream_copy_gbps"),
        number("stream_prefetch_copy_gbps"),
        number("ratio"),
        facts["threads"].as_u64().unwrap_or_default(),
        facts["case"].as_str().unwrap_or_default(),
    )
}

fn dense(shape: &Shape) -> Result<i64> {
    Ok(shape.dense_byte_size()?)
}

/// Seconds of one of `repeats` calls. What is short enough to be repeated is called once before: the copy past the cache that
/// was measured last has emptied it of the destination.
fn seconds(repeats: usize, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    if repeats > 1 {
        call()?;
    }
    let start = Instant::now();
    for _ in 0..repeats {
        call()?;
    }
    // A clock too coarse to see the call must not divide by zero.
    Ok((start.elapsed().as_secs_f64() / repeats as f64).max(1e-12))
}

/// The median over the distances of the median over their rounds.
fn medians(rounds: &[Vec<Seconds>], of: impl Fn(&Seconds) -> f64) -> f64 {
    median(rounds.iter().map(|rounds| median(rounds.iter().map(&of).collect())).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => f64::NAN,
        0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}

/// What a case is measured with.
struct Buffers {
    src: Aligned,
    dst: Aligned,
    /// The array between two passes.
    between: Aligned,
}

/// The buffers, with the destination at one of its distances.
struct Slices<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
    between: &'a mut [u8],
}

impl Buffers {
    fn at(&mut self, offset: usize) -> Slices<'_> {
        Slices { src: self.src.from(0), dst: self.dst.from(offset), between: self.between.from(0) }
    }
}

/// A buffer whose first byte lies at the start of a huge page, prefaulted, with huge pages advised where the system knows
/// them.
struct Aligned {
    bytes: MmapMut,
    start: usize,
}

impl Aligned {
    fn new(bytes: usize) -> Result<Aligned> {
        let length = bytes.checked_add(HUGE_PAGE).context("the buffer overflows 64 bits")?;
        let mut bytes = MmapMut::map_anon(length).context("cannot allocate the buffers")?;
        #[cfg(target_os = "linux")]
        let _ = bytes.advise(memmap2::Advice::HugePage); // advice: without it measurements are slower, not wrong
        let start = bytes.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE);
        bytes.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
        Ok(Aligned { bytes, start })
    }

    /// Everything from `offset` bytes behind the start of the page.
    fn from(&mut self, offset: usize) -> &mut [u8] {
        &mut self.bytes[self.start + offset..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
    }

    #[test]
    fn buffers_begin_at_a_page() {
        let mut aligned = Aligned::new(10).unwrap();
        assert_eq!(aligned.from(0).as_ptr().align_offset(PAGE), 0);
        assert!(aligned.from(0).len() >= 10);
    }
}
