//! Nests that a form of rows fits: a few rows that become one stream, one stream that becomes a few rows, and rows of
//! whole lines.

use super::converter::Converter;
use super::flush::streams;
use super::forms::{BLOCK, has_body};
use super::hop::Hop;
use super::packed::half_bytes::{COLUMNS, HALF_BYTES};
use super::rows::{Form, Lines, Look, Place};
use super::tile::Pass;
use super::words::any::ends;
use crate::lanes::LINE;
use crate::level::Level;
use crate::loops::Loops;
use crate::nest::Loop;
use crate::slots::{Bits, SlotWidth};
use crate::tuning::{
    ALONG_STREAM_AHEAD, FACTORS_NEAR, apart_ahead, are_apart, convert_ahead, goes_by_pieces, next_ahead,
    next_converted, weaves_along_stream, woven_ahead,
};

/// A nest as a pass over rows of a form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Woven {
    pub(super) pass: Pass,
    pub(super) form: Form,
    /// Which loop of the pass leads to the next piece of a row, where rows start no lines.
    pub(super) next: Option<usize>,
}

/// The nest in a form, where one fits it.
pub(super) fn woven(converter: &Converter<'_>, loops: &[Loop], [src, dst]: [Place; 2]) -> Option<Woven> {
    if converter.level == Level::Scalar || !converter.level.is_available() {
        return None;
    }
    paired(converter, loops, [src, dst])
        .or_else(|| zipped(converter, loops, [src, dst]))
        .or_else(|| unzipped(converter, loops, [src, dst]))
        .or_else(|| if converter.stream { lines(converter, loops, [src, dst]) } else { None })
}

fn zipped(converter: &Converter<'_>, loops: &[Loop], [src, dst]: [Place; 2]) -> Option<Woven> {
    let [src_unit, dst_unit] = converter.units();
    let across = loops.iter().position(|l| l.dst_stride == dst_unit)?;
    let Loop { extent: ways, src_stride: step, .. } = loops[across];
    let runs_along = |l: &Loop| l.src_stride == src_unit && l.dst_stride == dst_unit * ways as isize;
    let along = loops.iter().position(runs_along)?;
    let bytes = if dst.bits.is_some() { 1 } else { converter.conversion.dst_bytes() };
    let fits = has_body(bytes, ways)
        && loops[along].extent >= least(converter, ways * bytes)
        && converter.conversion.dst_bytes() == bytes;
    if !fits {
        return None;
    }
    let pass = without(loops, along, across);
    let in_bytes = dst.bits.is_none() || dst.bits == Some(Bits::Four) && ways == HALF_BYTES;
    let stream = converter.stream && in_bytes && starts_lines(converter, pass.rows.as_slice(), dst);
    let mut woven = Woven { pass, form: Form::Zip { ways, step, stream }, next: None };
    if follows_stream(converter, (ways, step), (src, woven.pass.run)) {
        put_along_stream(&mut woven.pass.rows);
    }
    Some(woven)
}

fn unzipped(converter: &Converter<'_>, loops: &[Loop], [src, dst]: [Place; 2]) -> Option<Woven> {
    let [src_unit, dst_unit] = converter.units();
    let across = loops.iter().position(|l| l.src_stride == src_unit)?;
    let Loop { extent: ways, dst_stride: step, .. } = loops[across];
    let runs_along = |l: &Loop| l.dst_stride == dst_unit && l.src_stride == src_unit * ways as isize;
    let along = loops.iter().position(runs_along)?;
    let bytes = converter.conversion.src_bytes();
    if dst.bits.is_some() {
        return unzipped_halves(converter, (ways, step), without(loops, along, across), src);
    }
    if !has_body(bytes, ways) || loops[along].extent < least(converter, ways * bytes) {
        return None;
    }
    let mut woven = Woven {
        pass: without(loops, along, across),
        form: Form::Unzip { ways, step, lines: Lines::Stored },
        next: None,
    };
    if converter.stream {
        let mut all = woven.pass.rows;
        all.push(loops[across]);
        let in_lines = starts_lines(converter, all.as_slice(), dst);
        // Of those with factors, these would be found anew for every piece.
        let are_halves = bytes == 2 && converter.conversion.dst_bytes() == 4;
        let by_pieces = are_halves && !converter.conversion.is_scaled() && goes_by_pieces((ways, step));
        if !in_lines || by_pieces {
            woven.next = next_piece(converter, &woven.pass, all.as_slice(), dst);
        }
        if in_lines && woven.next.is_none() {
            woven.form = Form::Unzip { ways, step, lines: Lines::Whole };
        }
    }
    Some(woven)
}

/// Two rows of pairs that become one of words, or the reverse: elements have two bytes on one side and one on the other.
fn paired(converter: &Converter<'_>, loops: &[Loop], [src, dst]: [Place; 2]) -> Option<Woven> {
    let conversion = &converter.conversion;
    let bytes = [conversion.src_bytes(), conversion.dst_bytes()];
    if src.bits.or(dst.bits).is_some() || !matches!(bytes, [2, 1] | [1, 2]) || conversion.parts() > 1 {
        return None;
    }
    let [src_unit, dst_unit] = converter.units();
    let mut rows = Loops::of(loops);
    let mut take = |extent: Option<usize>, src_stride: Option<isize>, dst_stride: Option<isize>| {
        rows.take(|l| {
            extent.is_none_or(|extent| extent == l.extent)
                && src_stride.is_none_or(|stride| stride == l.src_stride)
                && dst_stride.is_none_or(|stride| stride == l.dst_stride)
        })
    };
    take(Some(2), Some(src_unit), Some(dst_unit))?;
    let zips = bytes == [2, 1];
    let across = match zips {
        true => take(Some(2), None, Some(2 * dst_unit))?,
        false => take(Some(2), Some(2 * src_unit), None)?,
    };
    let run = take(None, Some(4), Some(4))?.extent;
    let fits = run >= BLOCK && ends(conversion, None).is_some();
    put_in_order(&mut rows);
    let pass = Pass { run, rows };
    let form = match zips {
        true => {
            let stream = converter.stream && starts_lines(converter, pass.rows.as_slice(), dst);
            Form::ZipPairs { step: across.src_stride, stream }
        }
        false => {
            let mut all = rows;
            all.push(across);
            let whole = converter.stream && starts_lines(converter, all.as_slice(), dst);
            let lines = if whole { Lines::Whole } else { Lines::Stored };
            Form::UnzipPairs { step: across.dst_stride, lines }
        }
    };
    fits.then_some(Woven { pass, form, next: None })
}

/// Fewest elements of a row that is woven into words of so many bytes. Between `f32` and two floats of 16 bits these go by words,
/// which want a line of the narrower; whatever may go by hops wants a line of bytes. Edges of tiles are that short.
fn least(converter: &Converter<'_>, word: usize) -> usize {
    let mut hops = converter.conversion.hops();
    let has_halves = match (hops.next(), hops.next()) {
        (Some(Hop::EncodeTop16 | Hop::DecodeTop16), None) => true,
        (Some(Hop::Encode16(to)), None) => to.is_half(),
        (Some(Hop::Decode16(from)), None) => from.is_half(),
        _ => false,
    };
    let is_packed = [converter.src, converter.dst].iter().any(|width| matches!(width, SlotWidth::Bits(_)));
    if has_halves && !is_packed && word == 4 { BLOCK / 2 } else { BLOCK }
}

/// Packed half bytes of a stream that become rows, which start anywhere.
fn unzipped_halves(
    converter: &Converter<'_>,
    (ways, step): (usize, isize),
    pass: Pass,
    src: Place,
) -> Option<Woven> {
    let mut starts = pass.rows.as_slice().iter().map(|l| l.src_stride).chain([src.first]);
    let fits = converter.moves_bits()
        && src.bits == Some(Bits::Four)
        && ways == HALF_BYTES
        && pass.run >= COLUMNS
        && starts.all(|place| place % 2 == 0);
    let stream = converter.stream && streams(converter.level);
    let lines = if stream { Lines::Within } else { Lines::Stored };
    fits.then_some(Woven { pass, form: Form::Unzip { ways, step, lines }, next: None })
}

/// The loop that leads from one piece of a row to the next, where pieces are whole lines and rows start anywhere.
fn next_piece(converter: &Converter<'_>, pass: &Pass, rows: &[Loop], dst: Place) -> Option<usize> {
    let width = converter.conversion.dst_bytes();
    let bytes = pass.run * width;
    let even = |l: &Loop| l.dst_stride.unsigned_abs().is_multiple_of(width);
    let fits = streams(converter.level)
        && bytes.is_multiple_of(LINE)
        && dst.byte_of(0).addr().is_multiple_of(width)
        && rows.iter().all(even);
    let next = pass.rows.as_slice().iter().position(|l| l.dst_stride == bytes as isize);
    next.filter(|_| fits)
}

/// Rows of whole lines, to be written past the cache.
fn lines(converter: &Converter<'_>, loops: &[Loop], [src, dst]: [Place; 2]) -> Option<Woven> {
    let mut pass = rows_of_factors(converter, Pass::new(loops, converter.units()), src);
    let bytes = match dst.bits {
        Some(bits) => pass.run / (8 / bits as usize),
        None => pass.run * converter.conversion.dst_bytes(),
    };
    let whole = pass.run >= BLOCK && bytes > 0 && bytes.is_multiple_of(LINE);
    let whole = whole && (dst.bits.is_none() || converter.only_packs() && pass.run.is_multiple_of(8));
    let fits = whole && starts_lines(converter, pass.rows.as_slice(), dst);
    put_in_order(&mut pass.rows);
    fits.then_some(Woven { pass, form: Form::Lines, next: None })
}

/// The only row of a pass as rows of one period of its factors, where these do not stay in the first-level cache.
fn rows_of_factors(converter: &Converter<'_>, pass: Pass, src: Place) -> Pass {
    let [src_unit, dst_unit] = converter.units();
    if !converter.conversion.is_scaled() || !pass.rows.as_slice().is_empty() {
        return pass;
    }
    // Elements of a byte do not take turns, and rows that are no whole blocks end in one that steps back.
    let are_rows = |period: usize| {
        let is_whole = period.is_multiple_of(BLOCK) && pass.run.is_multiple_of(period);
        let is_long = src_unit > 1 && period > FACTORS_NEAR;
        is_long && is_whole && converter.scale.is_same_apart(period as isize * src_unit)
    };
    match converter.scale.period(src.first, src_unit) {
        Some((left, period)) if left == period && are_rows(period) => {
            let [src_stride, dst_stride] = [src_unit, dst_unit].map(|unit| period as isize * unit);
            let rows = Loop { extent: pass.run / period, src_stride, dst_stride };
            Pass { run: period, rows: Loops::of(&[rows]) }
        }
        _ => pass,
    }
}

/// The pass over what is left of a nest without two of its loops, of which one is a row.
fn without(loops: &[Loop], along: usize, across: usize) -> Pass {
    let mut pass = Pass { run: loops[along].extent, rows: Loops::default() };
    let others = (0..loops.len()).filter(|&i| i != along && i != across);
    others.for_each(|i| pass.rows.push(loops[i]));
    put_in_order(&mut pass.rows);
    pass
}

/// Memory is read in its order: what narrows reads more than it writes, and what widens writes long runs anywhere.
pub(super) fn put_in_order(rows: &mut Loops) {
    rows.sort_by_key(|l| std::cmp::Reverse(l.src_stride.unsigned_abs()));
}

/// True where two rows are woven piece by piece as the stream has them, in place of one such pair after the other.
fn follows_stream(
    converter: &Converter<'_>,
    (ways, step): (usize, isize),
    (src, run): (Place, usize),
) -> bool {
    let conversion = &converter.conversion;
    let bytes = conversion.src_bytes();
    // Factors of columns come one after the other along a row, and would be found anew for every piece.
    let has_one = || !conversion.is_scaled() || converter.scale.is_same_along(src.first, bytes, run);
    let is_long = || next_converted((ways, step)).is_none();
    ways == 2 && bytes == 4 && weaves_along_stream() && is_long() && has_one()
}

/// What rows of a form ask for ahead of what is read from memory.
pub(super) fn look(converter: &Converter<'_>, form: Form, rows: (Place, usize)) -> Look {
    let conversion = &converter.conversion;
    let per_byte = rows.0.bits.map_or(1, |bits| 8 / bits as isize);
    let next = |ways: usize, step: isize| match next_converted((ways, step / per_byte)) {
        Some(next) => next_ahead(next, step / per_byte % LINE as isize == 0),
        None => woven_ahead(ways, conversion.src_bytes(), conversion.is_scaled()),
    };
    let (far, near) = match form {
        Form::Zip { ways, step, .. } if follows_stream(converter, (ways, step), rows) => ALONG_STREAM_AHEAD,
        Form::Zip { ways, step, .. } => next(ways, step),
        Form::ZipPairs { step, .. } => next(2, step),
        _ => convert_ahead(),
    };
    Look::Along { far, near }
}

/// The same of plain rows of whole bytes, of which the next pass begins where the last one ends: of those that lie apart, rows further.
pub(super) fn look_of_rows(converter: &Converter<'_>, pass: &Pass, src: Place) -> Look {
    let bytes = pass.run * converter.conversion.src_bytes();
    match pass.rows.as_slice() {
        [rows] if are_apart(bytes, rows.src_stride) => {
            let (far, near) = apart_ahead(bytes, rows.src_stride);
            Look::Along { far, near }
        }
        _ => look(converter, Form::Plain, (src, pass.run)),
    }
}

/// The order of the destination.
fn put_along_stream(rows: &mut Loops) {
    rows.sort_by_key(|l| std::cmp::Reverse(l.dst_stride.unsigned_abs()));
}

/// True where rows start lines that the level can write past the cache.
fn starts_lines(converter: &Converter<'_>, rows: &[Loop], dst: Place) -> bool {
    let per_byte = dst.bits.map_or(1, |bits| 8 / bits as usize);
    let whole = |l: &Loop| l.dst_stride.unsigned_abs().is_multiple_of(LINE * per_byte);
    streams(converter.level)
        && dst.first.unsigned_abs().is_multiple_of(per_byte)
        && dst.byte_of(0).addr().is_multiple_of(LINE)
        && rows.iter().all(whole)
}
