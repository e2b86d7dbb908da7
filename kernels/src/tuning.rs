//! Every threshold of the kernels, with the reason for its value.

use crate::lanes::LINE;
use crate::processor::{is_amd, is_early_amd, is_fifth_zen, is_fourth_zen, is_later_amd, is_older_amd};
use crate::transpose::ahead::meets_far;

/// How far a staged tile reaches along the destination and along the source, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) dst: usize,
    pub(crate) src: usize,
}

/// A few rows that become one stream: the tile is a piece of the stream, as much as half of a first-level cache holds.
pub(crate) const STREAM_REACH: Reach = Reach { dst: 8192, src: 64 };

/// One stream that becomes a few rows: the first and the last line of a row's piece are written in part and met again by
/// the next tile, so pieces are long enough to make that rare; the stream is read in as long pieces.
pub(crate) const ROWS_REACH: Reach = Reach { dst: 2048, src: 2048 };

/// Long rows that start anywhere, and are taken from a stream, go so many bytes at a time: the pieces of all rows that take
/// turns, and the stream they come from, are a small part of a first-level cache.
pub(crate) const ROW_PIECE: usize = 512;

/// Rows that lie one behind the other, in bytes of all that are taken from a stream at once, which are put together in a part of the
/// first-level cache.
pub(crate) const DENSE_ROWS: usize = 4096;

/// Whether copied rows of so many bytes that start anywhere leave one by one, in the order of the destination, each with the line that it
/// shares with the next one, rather than some streams of them by way of buffers, or by pieces: AMD's fourth Zen was up to six tenths faster
/// with that, and Intel's up to a fourth with short rows, and a tenth slower with longer ones. Others were not measured.
pub(crate) fn joins_rows(run: usize) -> bool {
    match () {
        () if is_fourth_zen() => run >= LEAST_JOINED,
        () => !is_amd() && SHORT_JOINED.contains(&run),
    }
}

/// Shorter rows have few lines of their own.
const LEAST_JOINED: usize = 512;

/// The least, and the most, that were measured to gain.
const SHORT_JOINED: core::ops::RangeInclusive<usize> = 128..=1024;

/// Bytes of the buffers of all streams of such rows that take turns: a good half of a first-level cache.
pub(crate) const DENSE_STREAMS: usize = 32 << 10;

/// Short rows that lie one behind the other: so long a run that its ends, which are lines in part, do not count.
pub(crate) const RUN_REACH: Reach = Reach { dst: 16384, src: 128 };

/// Bytes of rows that are worth carrying from strip to strip: with shorter ones, more lines are written in part than whole.
pub(crate) const LEAST_CARRY: usize = 256;

/// The same for rows that could as well be put together to longer runs.
pub(crate) const LONG_CARRY: usize = 2048;

/// Bytes of rows that start no line, all as far behind one, which go as lines but for their first and last bytes: of so long ones these
/// do not count. On AMD's fourth Zen reversed dimensions went from 6 to 33 GB/s so, and nothing was carried.
pub(crate) const LONG_ALIKE: usize = 1024;

/// Bytes of rows of a transpose that are worth being parted where they all start as far behind a line, so that most of their lines are
/// moved as those of rows that start some; fewer where the line in which one ends and the next begins is written whole. AMD's fourth Zen
/// gained from a tenth to a half by the former, of rows of 20 KiB and more, and Intel's a fifth to a fourth by the latter. AMD's fifth Zen
/// was not measured with it.
pub(crate) fn least_parted(goes_on: bool) -> usize {
    if goes_on && !is_fifth_zen() { LEAST_SEAMED } else { 4096 }
}

/// The least that was measured.
const LEAST_SEAMED: usize = 512;

/// The same of rows that are woven from a few, as channels are: they were put together in the cache before.
pub(crate) const LEAST_WOVEN: usize = 2048;

/// Anything else: runs of whole lines on both sides, in a tile that stays in the first-level cache.
pub(crate) const TILE_REACH: Reach = Reach { dst: 256, src: 256 };

/// So many bytes that are read, or fewer, are taken to lie in the first-level cache: with as many that are written they are
/// half of one.
pub(crate) const IN_FIRST_LEVEL: usize = 16384;

/// Nests of fewer bytes, or of elements of more, are not moved tile by tile in steps: making a tile's buffers takes as long as moving some
/// tiles, and what moves elements run by run is slower the narrower they are.
pub(crate) const LEAST_IN_TILES: usize = 64 << 10;
pub(crate) const WIDEST_IN_TILES: usize = 2;

/// Room for such a tile between two steps, of which there may be four: all of it in the second-level cache.
pub(crate) const TILE_IN_STEPS: usize = 128 << 10;

/// Nests of fewer elements are not worth looking for sets or runs in: that takes as long as moving them one by one.
pub(crate) const LEAST_ELEMENTS: usize = 1024;

/// Elements of one or two bytes that are farther apart in the source than so many bytes are better read one by one than picked
/// out of lanes.
pub(crate) const LANE_STEP: usize = 4;

/// Conversions of so many elements, or fewer, go as one row: to look for words, strips and tiles takes longer.
pub(crate) const FEW: usize = 256;

/// The same where slots that share bytes are taken one by one: some nanoseconds each.
pub(crate) const FEW_SLOTS: usize = 128;

/// Nests of which so many bytes, or fewer, stand between a conversion and a permutation are one tile, with room on the stack: these
/// stay in the first-level cache, and to cut larger nests takes about a microsecond, a third of their time. So many bytes of short rows
/// go at a time, and so many of elements without rows are gathered before they are converted.
pub(crate) const SMALL: usize = 16 << 10;

/// The same where elements are transposed in the cache, which go by way of a part of the second level: whole rows of either side, one
/// after the other, are up to three times as fast as tiles.
pub(crate) const TRANSPOSED: usize = 512 << 10;

/// True where elements that become wider are transposed part by part before, past the cache, too, unless they leave a transpose as whole
/// lines: Intel's gained a tenth to nine tenths by it, and three times as much where columns are few. Others were not measured with it.
pub(crate) fn widens_in_parts() -> bool {
    !is_amd()
}

/// How many times as long as the destination's short rows the source's must be for elements that become wider to be converted before they
/// are permuted: rows of 30 gained five times by it, rows of 44 from columns of 100 lost a fifth.
pub(crate) const MUCH_LONGER: usize = 4;

/// Bytes from one line of a set of the first-level cache to the next, which has 64 sets, and lines that a set keeps: eight on AMD's
/// processors, twelve on Intel's later ones.
pub(crate) const SET_STRIDE: usize = 4096;
pub(crate) const SET_LINES: usize = 8;

/// Lines of rows, and of columns, that a block may have for each set they lie in before the plane goes by a buffer: some more than a set
/// keeps, since that costs a copy, and of bytes twice as many, of which a block has the most.
pub(crate) const fn most_of_a_set(element: usize) -> [usize; 2] {
    match element {
        1 => [2 * SET_LINES; 2],
        _ => [SET_LINES, SET_LINES + 1],
    }
}

/// Lines of columns, and lines of rows, that are transposed before the next such part of a plane: in lines of 64 bytes a part
/// is at most a few hundred kibibytes, which the second-level cache keeps, on so many pages as the first table of
/// translations.
pub(crate) const PANEL: usize = 16;

/// Rows that follow one another without gaps are gathered in so many bytes at most before they are streamed, if they start no lines: a
/// small part of a second-level cache. Of longer ones the lines that they share are few. Others than AMD's processors carry what rows
/// share for less.
pub(crate) fn dense_bytes() -> usize {
    if is_amd() { 128 << 10 } else { 32 << 10 }
}

/// Whether rows of so many bytes, whole lines, are gathered so, too, where the first one starts inside a line: AMD's fourth Zen wrote
/// channels of bytes and of two bytes twice as fast so, and those that are longer by other ways; Intel's wrote as much faster rows that are
/// shorter than what is parted, and up to a third slower others. AMD's fifth Zen was not measured with it.
pub(crate) fn gathers_behind_lines(row: usize) -> bool {
    is_older_amd() || !is_amd() && row < LEAST_SEAMED
}

/// Blocks of so many bytes stay in a quarter of a first-level cache, which also holds what they are made from. Others than AMD's
/// processors gather as many, and take all of the next one when they are asked for it together.
pub(crate) const DENSE_NEAR: usize = 8192;

/// The longest rows that start lines, in bytes, and are gathered so: longer ones have lines enough for themselves.
pub(crate) const DENSE_ROW: usize = 256;

/// Lines that are asked for before those of a block are wanted, at least: of few columns, those of some blocks.
pub(crate) const DENSE_AHEAD: usize = 256;

/// Lines of every column that are gathered together, a power of two, of so many columns of elements of so many bytes: on AMD's
/// processors no more than one, or what is read and what is gathered take more of the first-level cache. Of few columns of bytes, one
/// makes a block of a few lines only.
pub(crate) fn dense_lines(columns: usize, element: usize) -> usize {
    match is_amd() {
        true if element == 1 && columns < 24 => 2,
        true => 1,
        false => 1 << (DENSE_NEAR / (columns * LINE)).max(1).ilog2(),
    }
}

/// Blocks of at most so many columns, lines then, take turns.
pub(crate) const DENSE_TURNS: usize = 64;

/// Rows of the destination that a streamed transpose walks before its next strip. At the end of a panel the hardware has
/// brought lines of every column in vain, so panels are long; with more rows, small pages are missed in the tables of
/// translations, and carries in the second-level cache.
pub(crate) const STRIP_ROWS: usize = 4096;

/// The same for rows of sets of loops: the places of so many, and their carries, fit the second-level cache.
pub(crate) const SET_ROWS: usize = 2048;

/// The same for rows that are stored: their lines stay in the first-level cache until the next strip.
pub(crate) const STORED_ROWS: usize = 256;

/// How far ahead of its loads a transpose of sets of loops asks for each column's lines, in bytes. A strip has more columns
/// than the hardware follows as streams; a few lines ahead is what a strip's other columns take time for. An odd number of
/// lines, since the hardware brings lines in pairs: asked for by even ones, pairs come before their time and get lost.
pub(crate) const COLUMN_AHEAD: usize = 192;

/// How the strips of a streamed transpose ask for the lines of their columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretches {
    /// Lines of a column that are asked for together, a power of two: memory reads them faster than single lines, and a strip's stretches
    /// are a part of the second-level cache, or of the first where they are asked for into that.
    lines: usize,
    /// True where they are asked for into the first level. Turns of columns that meet never are, whose lines push each other out there.
    pub(crate) to_first_level: bool,
}

impl Stretches {
    /// What is best on most processors.
    pub(crate) const USUAL: Stretches = Stretches { lines: 4, to_first_level: false };

    /// AMD's fifth Zen gained from nothing to a sixth by the first level.
    const FIFTH_ZEN: Stretches = Stretches { lines: 8, to_first_level: true };

    /// What is best on this one. Not to be asked in a kernel's region.
    pub(crate) fn here() -> Stretches {
        if is_fifth_zen() { Stretches::FIFTH_ZEN } else { Stretches::USUAL }
    }

    /// Lines that are asked for together of columns of so many bytes.
    pub(crate) fn of(self, len: usize) -> usize {
        if len >= self.lines * LINE { self.lines } else { Stretches::USUAL.lines }
    }
}

/// True where the hardware follows the columns of a strip of elements of so many bytes: eight columns of sixteen bytes, by the distance
/// from one to the next. AMD's fifth Zen lost a third where they were asked for.
pub(crate) fn follows_columns(element: usize) -> bool {
    is_fifth_zen() && element > 8
}

/// True where a streamed transpose asks for lines among those that it writes, not among its loads, by registers of a line:
/// there they wait in the buffers that the loads need, and the memory has nothing to read as lines leave. On Intel's processors
/// bytes gained an eighth and conversions up to a quarter, AMD's fifth Zen as much; its older ones go by turns, which ask so, but for
/// words.
#[inline(always)]
pub(crate) fn asks_with_rows() -> bool {
    !is_older_amd()
}

/// Elements of fewer bytes do so: wider ones lost a tenth where rows start no lines.
pub(crate) const ASKED_WITH_ROWS: usize = 8;

/// Where a streamed transpose goes by turns, which it does on AMD's older processors, a turn has at most so many columns; of half as many where
/// elements are wider than two bytes, or columns meet in few sets of the caches. The more a turn reads and then writes the
/// faster is the memory, as long as all of it stays in the first-level cache.
pub(crate) const BURST_COLUMNS: usize = 256;

/// The same where several columns, or several rows, lie in a page, in columns and in lines of every row: what is near is fast in
/// small pieces, too, and every column less is one less that is far from the others.
pub(crate) const BURST_NEAR: usize = 96;
pub(crate) const BURST_LINES: usize = 3;

/// From row to row of a tile: of rows no farther apart, a turn writes a line more.
pub(crate) const BURST_TILE: usize = 512;

/// Where rows are near, and columns far whose lines do not stay in the caches, a turn reads so many lines of fewer columns. Before AMD's
/// fourth Zen, and of two bytes since the fifth, it does so of columns that meet, whose lines the second level keeps for as few, and asks for those of the next turn.
pub(crate) const DEEP_DEPTH: usize = 4;
pub(crate) const DEEP_COLUMNS: usize = 64;

/// Bytes that are near: a small page.
pub(crate) const PAGE: usize = 4096;

/// Elements of so many bytes, or fewer, go by turns on AMD's fifth Zen, where their columns or rows meet: a third faster there, and
/// slower than strips elsewhere, as wider ones are everywhere.
pub(crate) const WIDEST_TURNS: usize = 2;

/// True where elements that fill a lane are transposed as a nest of any loops is, to rows of so many bytes that start lines: on AMD's
/// fourth Zen, which gained up to a tenth by it where rows are long, and lost as much where they are short, or start none. Others were not
/// measured with it.
pub(crate) fn lanes_in_general(row: usize) -> bool {
    is_fourth_zen() && row > PAGE
}

/// True where rows of so many bytes that go on in another loop are transposed as a nest of any loops is, which takes them together: AMD's
/// fourth Zen gained up to four fifths by it where rows are two lines. Others were not measured with it.
pub(crate) fn short_in_general(row: usize) -> bool {
    is_fourth_zen() && row <= GOES_ON
}

/// Longer rows have lines enough for themselves.
const GOES_ON: usize = 2048;

/// Bytes of a strip of sets of loops in every row that starts a line, of elements of so many bytes: AMD's fourth Zen gained up to a third by
/// twice as many as others have, of columns that are as many for elements of two bytes, and lost a tenth with wider ones.
pub(crate) fn long_strip(element: usize) -> usize {
    match element {
        1 => LINE,
        4 if is_fourth_zen() => 4 * LINE,
        _ => 2 * LINE,
    }
}

/// The most bytes of columns that are one stream, and go in strips of many though they are a line and a little more, or 0: a turn would
/// read their second lines for little, and AMD's fourth Zen gained a sixth to a third so. Others were not measured with it.
pub(crate) fn short_columns() -> usize {
    if is_fourth_zen() { 80 } else { 0 }
}

/// Lines of every column that a turn reads where columns meet in few sets of the caches, unless such turns are deep, too.
pub(crate) const MEETING_DEPTH: usize = 2;

/// How far ahead of those of the next turn such lines are asked for, which are twice as many, in bytes: enough for columns that
/// start no lines.
pub(crate) const MEETING_AHEAD: usize = 64;

/// How far ahead of those of the next turn its columns' lines are asked for, in bytes: a turn's time is less than the
/// memory's.
pub(crate) const BURST_AHEAD: usize = 128;

/// The same where columns lie near a multiple of a page apart: single lines would each lie in another row of the same bank of
/// the memory.
pub(crate) const MEETING_STRETCH: usize = 8;

/// The same where columns are converted before they are transposed: each takes some lines at once.
pub(crate) const MADE_STRETCH: usize = 8;

/// How many columns ahead of those that are read the lines of packed slots are asked for. A strip has up to 1,024 columns:
/// lines that were asked for a whole stretch of all of them ahead would be lost before their use.
pub(crate) const MADE_APART: usize = 16;

/// Rows that start at any bit whose lines are asked for so many rows ahead of being written.
pub(crate) const BIT_ROWS_AHEAD: isize = 8;

/// Columns of at most so many lines that lie one behind the other are asked for a strip ahead, in the order of memory, which
/// reads them as one stream. Strips of longer ones do not stay in the cache until then.
pub(crate) const FEW_LINES: usize = 32;

/// Columns of at most so many bytes are too short to be followed as streams, several of them lying in a page: those of the
/// next strip are asked for in the order of memory instead.
pub(crate) const SHORT_COLUMN: usize = 4096;

/// Bytes of the destination that one pass through a program makes: some lines past the cache; in it, so few that the
/// program and what it reads stay in the first-level cache.
pub(crate) const STREAMED_RUN: usize = 512;
pub(crate) const STORED_RUN: usize = 256;

/// Fewer runs are not worth the making of a program, which takes as long as moving some runs element by element.
pub(crate) const LEAST_RUNS: usize = 16;

/// A staged tile never takes more than this: half of the smallest second-level cache in use.
pub(crate) const STAGE_BYTES: usize = 512 * 1024;

/// The size of the pages that large buffers ask for: those of x86-64, and of aarch64 with its usual small pages.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// From this many bytes on a buffer asks for huge pages: two of them, so that what lies before its start, which is never
/// touched but takes addresses, is less than the buffer.
pub(crate) const HUGE_PAGE_BUFFER: usize = 2 * HUGE_PAGE;

/// How far ahead of its loads a streamed run asks for lines, in bytes, where so many take turns. Two lines of every page are behind the
/// hardware's own stream when it starts; asking early hides that. More than half a page ahead gained nothing on Intel's processors;
/// AMD's are faster with somewhat less, and since their fifth Zen with nothing asked for (0) where streams are few: they follow what
/// each instruction reads, and are held up by a tenth where they are told.
pub(crate) fn run_ahead(streams: usize) -> usize {
    match () {
        () if is_fifth_zen() && streams <= FOLLOWED => 0,
        () if is_amd() => 768,
        () => 2048,
    }
}

/// Streams that are followed so. Without being told, 48 and 96 were read at half the speed.
const FOLLOWED: usize = 16;

/// The same for short runs that lie apart, whose neighbours come later: less was slower on processors of both makers.
pub(crate) const APART_AHEAD: usize = 2048;

/// Runs whose neighbours come after at most so many bytes are one stream: a part of the second-level cache, in which what was
/// asked for stays until then.
pub(crate) const RUNS_AHEAD: usize = 256 << 10;

/// How far a converted tile reaches along the source and along the destination, in bytes, and how many bytes it may then have
/// between its passes, the first choice first: where both sides' runs are made of the same loops, some rows of whole tiles
/// in a part of the first-level cache; where they are not, long runs of the source, which memory reads faster, and two
/// lines of every row of the destination, in a part of the second-level cache; else lines enough of both to be worth fetching.
pub(crate) const CONVERT_REACHES: [(usize, usize, usize); 6] = [
    (1024, 2048, 16 << 10),
    (512, 512, 16 << 10),
    (1024, 128, 64 << 10),
    (256, 128, 128 << 10),
    (128, 128, 16 << 10),
    (64, 64, usize::MAX),
];

/// How many of these are for runs that are made of the same loops.
pub(crate) const REACHES_OF_BOTH: usize = 2;

/// The same where nothing goes past the cache, in place of what follows those for the same loops: elements of rows of the source, which
/// may be cut or not, and as many columns as rows of elements of a byte are converted by. More of both would leave the second-level
/// cache; a cut row is better half of it.
pub(crate) const CONVERT_NEAR: [([usize; 2], bool); 3] =
    [([1024, 64], false), ([512, 64], true), ([256, 64], true)];

/// Bytes of a run of either side that a block has at least, if it goes on so far, where elements are converted before they are transposed
/// past the cache; and the most that such a block becomes, a part of the second-level cache. AMD's third Zen gained from a
/// twentieth to four fifths by such blocks, as much with twice as many bytes, and half as much with half the runs.
pub(crate) const CONVERTED_RUN: usize = 2048;
pub(crate) const CONVERTED_BLOCK: usize = 256 << 10;

/// Bytes of a block of words that are woven on one side only: with what it becomes, a small part of the second-level cache.
pub(crate) const WOVEN_BLOCK: usize = 64 << 10;

/// Bytes that such a block reads one behind the other, and writes, as far as there are so many: a row of a tile of words.
pub(crate) const WOVEN_RUN: usize = 512;

/// Bytes that the first of two steps of a conversion reads or writes at once: a quarter of a first-level cache, so that what is written
/// is still there after as much, or a few times as much, was read.
pub(crate) const BETWEEN_STEPS: usize = 8192;

/// The most bytes of rows that are woven together, or of a single one, that go with their padding from end to end: of longer ones what is
/// whole is moved tile by tile, as the part of a stream that each leaves out matters less than the order of the destination.
pub(crate) const PADDED_ROW: usize = 8192;

/// The most bytes of a row of the source that is converted with what is behind it, where its own elements do not fill registers, which
/// takes three times as long: a few lines, most of which are read anyway.
pub(crate) const CONVERT_LONGER: usize = 256;

/// Elements of a run of either side that a block has which goes by way of bytes, the first of these whose blocks do not become too large:
/// where rows become tiles, or stay rows, all of a row of tiles is one block, and where they become columns blocks have as many of both.
pub(crate) const BYTES_RUNS: [usize; 5] = [1 << 16, 1 << 13, 1 << 11, 1 << 9, 1 << 8];

/// Most bytes of such a block: of the second-level cache a part that leaves room for as much again, and for what is read and written.
pub(crate) const BYTES_ROOM: usize = 256 << 10;

/// Fewest elements that go so: to choose the ways of a block takes as long as to convert some hundred elements.
pub(crate) const LEAST_BY_BYTES: usize = 4096;

/// Fewest elements with the same factor for which a table of what becomes of each of their patterns is made: that takes as long as to convert
/// half as many floats by words, or all of the integers.
pub(crate) const FACTOR_TABLE: usize = 2048;

/// Fewest elements for two steps: each of them takes as long to begin as some dozen elements.
pub(crate) const LEAST_IN_STEPS: usize = 256;

/// Rows of a tile of at least so many bytes are asked for while those of the tile before are read: what is asked for ahead along such a
/// row comes late at its start, and in vain behind its end. Shorter ones go on in the next tile.
pub(crate) const TILE_ROW: usize = 2048;

/// True for rows of so many bytes that are short and lie apart: what is asked for ahead along one of them is what lies between, and in
/// vain. Other processors than AMD's fourth Zen and those after it were not measured with it.
pub(crate) fn are_apart(bytes: usize, pitch: isize) -> bool {
    is_later_amd() && bytes <= SHORT_APART && pitch.unsigned_abs() >= bytes + LINE
}

/// The most bytes of such a row: longer ones are asked for along them for long enough.
const SHORT_APART: usize = 1024;

/// How far ahead of its reads such a row asks for others, in the same way as [`convert_ahead`]: for as many bytes, and more of them on
/// AMD's fourth Zen, which follows none of these rows, by where the line of its first one starts, and of its last one, as rows start
/// lines anywhere.
pub(crate) fn apart_ahead(bytes: usize, pitch: isize) -> (usize, usize) {
    let far = if is_fourth_zen() { 4096 } else { convert_ahead().0 };
    let rows = (far / (bytes + LINE)).max(1);
    let ahead = pitch.wrapping_mul(rows as isize) as usize;
    (ahead, ahead.wrapping_add(LINE - 1))
}

/// How far ahead of its reads a conversion asks for lines, in bytes, into the second level and into the first, which is of what
/// the second one has by then: a core that reads much and writes little waits for that, too. Half a page and more on AMD's fifth Zen;
/// its older ones follow a stream by themselves, and Intel's gained up to a tenth by more than a page.
pub(crate) fn convert_ahead() -> (usize, usize) {
    match () {
        () if is_older_amd() => (1536, 512),
        () if is_amd() => (3072, 512),
        () => (5120, 1024),
    }
}

/// The same for so many rows of elements of so many bytes that become a stream, or 0. Of two rows lines come into the first
/// level at once, as pieces of them take turns. AMD's older processors want them shortly before their use; words that become
/// bytes, too, of which four rows are too many to be followed for long. Elements with
/// factors, whose multiplication takes its time, gained nothing by it. Intel's gained up to a fifth by two rows in both levels, two pages
/// ahead.
pub(crate) fn woven_ahead(rows: usize, bytes: usize, is_scaled: bool) -> (usize, usize) {
    match rows {
        2 if is_older_amd() && !is_scaled => (0, 384),
        2 if is_amd() => (0, 3072),
        2 => (8192, 1024),
        _ if is_older_amd() && !is_scaled && bytes == 4 => (1024, 256),
        _ => (3072, 512),
    }
}

/// How far ahead of its loads a stream that is made of so many rows, with a step from one to the next, asks for the lines of each, in
/// bytes, or 0. With registers of a line Intel's processors are as fast as a copy without, but where rows are short: they gained a fifth to
/// a half by a page, which is the rows after the next ones, and lost as much as a tenth by it with longer ones. AMD's want as much of a
/// few rows as of one.
pub(crate) fn rows_ahead(is_part_of_line: bool, (rows, step): (usize, isize)) -> usize {
    match (is_part_of_line, rows) {
        (true, _) => 2048,
        (false, _) if !is_amd() && step.unsigned_abs() > PAGE => 0,
        (false, _) if !is_amd() => PAGE,
        (false, 2) => 1024,
        (false, _) => 2048,
    }
}

/// True where rows that are so many bytes apart, of which so many are woven, are short, and ask for those after them as they take turns:
/// processors follow each row, and begin anew with the next one. AMD's fourth Zen gained a fifth to two thirds by it, the third as much but
/// for rows of half a kibibyte, which gained little, and Intel's a tenth to a half. Of still shorter ones, a fixed distance is some
/// rows further, and was better; but of four and more it is other rows for each line, and AMD's fourth Zen gained a half by it
/// with two of 512 bytes, and lost a third with single ones.
pub(crate) fn are_short_rows(ways: usize, step: isize) -> bool {
    let is_least = ways >= MANY_STREAMS || ways > 1 && is_fourth_zen();
    let least = if is_least { 256 } else { 1024 };
    (least..=PAGE as isize).contains(&step)
}

/// Rows that are no farther than so many bytes behind those that take turns: a small part of the second-level cache.
pub(crate) const NEXT_ROWS: usize = 64 << 10;

/// How far ahead so many rows, with a step from one to the next, of which so many bytes become a stream, are asked for into the first level,
/// row by row before they are read, or 0: two rows that are far from one another were read up to a tenth faster so by AMD's fifth Zen,
/// and a twentieth by Intel's.
pub(crate) fn whole_rows_ahead((rows, step): (usize, isize), bytes: usize) -> usize {
    let are_far = rows == 2 && bytes <= WHOLE_ROWS && step.unsigned_abs() > PAGE;
    match () {
        () if are_far && is_fifth_zen() => 1024,
        () if are_far && !is_amd() => 512,
        () => 0,
    }
}

/// Longer rows than that are followed for long enough.
pub(crate) const WHOLE_ROWS: usize = 512;

/// True where two rows that are taken from a stream, and are so far apart that they meet in few banks of the memory, are written in pieces
/// of one after the other, as rows are that start no lines: the third Zen gained a sixth by it, and up to three fifths where they are
/// converted, but lost a tenth with four rows. Others were not measured with it.
pub(crate) fn goes_by_pieces((ways, step): (usize, isize)) -> bool {
    is_early_amd() && ways == 2 && meets_far(step)
}

/// True where rows past the cache go in the order of the source, one after the other: AMD's processors write lines anywhere as fast as one
/// behind the other, and read one stream a tenth faster than a few rows that take turns, and up to twice as fast where these are a page
/// or less. Those before the fourth Zen, and Intel's, were not measured with it.
pub(crate) fn goes_along_source() -> bool {
    is_later_amd()
}

/// Fewest bytes of a run for which that pays: single lines that are written to many places are a third slower so.
pub(crate) const ALONG_SOURCE: usize = 128;

/// Fewest runs that take turns for which that pays: two are followed as well as one.
pub(crate) const MANY_STREAMS: usize = 4;

/// How far ahead of its loads such a stream is asked for, in bytes, of runs of so many bytes that are written so far apart: a page, of
/// which rows of a tile of words, written near, want a quarter.
pub(crate) fn along_source_ahead(run: usize, step: usize) -> usize {
    if (512..1024).contains(&run) && step <= NEAR_RUNS { 1024 } else { 4096 }
}

/// Bytes from one run to the next that are near.
const NEAR_RUNS: usize = 64 << 10;

/// True where rows that are woven go in the order of the source: the third Zen gained a fifth by it, and up to four fifths where rows are
/// converted, and the fourth, asking for the next ones, was a fifth slower so.
fn weaves_along_source() -> bool {
    is_fifth_zen() || is_early_amd()
}

/// How far behind so many rows that are woven in the order of the source, with a step from one to the next, the rows lie that are asked
/// for with them, in bytes: those that come next, or some rows further where they are short. What is asked for
/// along a row is in vain behind its end, which is where the other row begins. None where rows are so long that what is asked for
/// would be gone by then, or go in another order.
pub(crate) fn next_woven(rows: (usize, isize)) -> Option<usize> {
    if weaves_along_source() { behind(rows, NEXT_WOVEN) } else { None }
}

/// The same for rows that are converted: the fourth Zen, too, is up to twice as fast with the next ones where they are short, and Intel's
/// are up to two fifths faster.
pub(crate) fn next_converted(rows: (usize, isize)) -> Option<usize> {
    match () {
        () if is_fourth_zen() => behind(rows, NEXT_CONVERTED),
        () if is_amd() => next_woven(rows),
        () => behind(rows, NEXT_WOVEN),
    }
}

/// How far ahead lines are asked for so, into the second level and into the first, the last one by its last byte where rows start none,
/// as no block of these has it. AMD's fourth Zen reads at half the speed where so much is asked for into the first level, and Intel's want
/// little of it there.
pub(crate) fn next_ahead(next: usize, starts_lines: bool) -> (usize, usize) {
    match (is_fourth_zen(), starts_lines) {
        (true, _) => (next, 0),
        (false, _) if !is_amd() => (next, 1024),
        (false, true) => (0, next),
        (false, false) => (next + LINE - 1, next),
    }
}

/// How far behind so many rows, with a step from one to the next, the next ones lie, or some rows further where they are short; none where
/// those together have fewer bytes than these, or more.
fn behind((ways, step): (usize, isize), bytes: core::ops::RangeInclusive<usize>) -> Option<usize> {
    let together = step.unsigned_abs().checked_mul(ways)?;
    let fits = matches!(ways, 2 | 4 | 8) && bytes.contains(&together);
    fits.then(|| together * LEAST_BEHIND.div_ceil(together))
}

/// Bytes of rows that are woven that stay in the second-level cache until they are read.
const NEXT_WOVEN: core::ops::RangeInclusive<usize> = 1..=128 << 10;

/// The same of rows that are converted, on AMD's fourth Zen: it follows shorter ones as they are, and longer ones, which it wants in the
/// order of the stream.
const NEXT_CONVERTED: core::ops::RangeInclusive<usize> = 1024..=16 << 10;

/// The least bytes that others are behind.
const LEAST_BEHIND: usize = 8192;

/// True where what is read across is better read in the order of memory once before, into the second-level cache: AMD's fourth and fifth
/// Zen gained a fourth to a half by it, more than by asking for lines. Other processors were not measured with it.
pub fn reads_in_order_first() -> bool {
    is_later_amd()
}

/// True where [`reads_in_order_first`] is so of rows that go on in the source, too: AMD's fourth Zen, which follows these, loses up to
/// a fourth.
pub fn reads_all_in_order_first() -> bool {
    is_fifth_zen()
}

/// How far ahead of its reads what is read so is asked for, in bytes, or 0: AMD's fourth Zen reads at half the speed without.
#[cfg(target_arch = "x86_64")]
pub(crate) fn near_ahead() -> usize {
    if is_fourth_zen() { 1024 } else { 0 }
}

/// Bytes of planes that are read so together: a quarter of the second-level cache.
pub(crate) const BAND_OF_PLANES: usize = 256 << 10;

/// Bytes of a plane for which that pays: of less, a line of every column is near as it is, and more leaves the cache.
pub(crate) const PLANES_IN_BANDS: core::ops::RangeInclusive<usize> = 6144..=BAND_OF_PLANES;

/// True where planes that are elsewhere than the next ones are read so, too: AMD's fourth Zen gained a tenth to two fifths by it. The fifth
/// was not measured with it.
pub(crate) fn reads_single_planes() -> bool {
    is_fourth_zen()
}

/// Bytes of such a plane for which that pays, or of all that take turns: longer ones are read in lines enough.
pub(crate) const SINGLE_PLANES: core::ops::RangeInclusive<usize> = 4096..=128 << 10;

/// True where words of two rows that are converted and woven are better taken in the order of the stream that they become:
/// AMD's older processors write some tiles faster than they read two rows.
pub(crate) fn weaves_along_stream() -> bool {
    is_older_amd()
}

/// How far ahead of their reads such rows are asked for, in bytes, into either level.
pub(crate) const ALONG_STREAM_AHEAD: (usize, usize) = (2048, 0);

/// How far ahead of its loads a stream whose rows start no lines is asked for, in bytes: almost a page, but for AMD's
/// fourth Zen, which follows it by itself and is only to be there a little earlier.
pub(crate) fn ragged_ahead() -> usize {
    if is_fourth_zen() { 320 } else { 3072 }
}

/// The same where its rows start lines: a page, of which that wants a quarter.
pub(crate) fn stream_ahead() -> usize {
    if is_fourth_zen() { 1024 } else { 4096 }
}

/// The most bytes that a stream of which so many are read at once may leave out and which are asked for all the same, or 0: AMD's fourth
/// Zen loses a stream that leaves out rows of a tile, waits for every line behind them, and gained a half to nine tenths by it, unless
/// more is left out than read.
pub(crate) fn asked_gap(read: usize) -> usize {
    if is_fourth_zen() { read.min(PAGE) } else { 0 }
}

/// Elements of a byte for which a table of all 256 is made, which takes as long as converting so many.
pub(crate) const CONVERT_TABLE: usize = 4096;

/// Elements of at most four bits for which a table of all 16 is made.
pub(crate) const CONVERT_SMALL_TABLE: usize = 256;

/// Floats of a byte with the same factor for which tables are made of what they become: making them takes longer than they save
/// for 512 and 1,024.
pub(crate) const CONVERT_SCALED: usize = 2048;

/// Floats of a byte for which it is found out how they are widened together, which takes as long as widening so many one by one.
pub(crate) const CONVERT_WIDENING: usize = 512;

/// Floats for which it is found out how they are narrowed to a byte together, which takes as long as narrowing so many as words.
pub(crate) const CONVERT_NARROWING: usize = 4096;

/// From this many bytes on a row is converted straight into its place.
pub(crate) const CONVERT_ROW: usize = 128;

/// The same where packed slots only move to other bits of their bytes.
pub(crate) const CONVERT_BITS: usize = 32;

/// Factors that stay in the first-level cache, in some third of it, beside what is read and written. Of more, each line of them would
/// come from the second level with every row, behind the lines that are asked for ahead.
pub(crate) const FACTORS_NEAR: usize = 3072;

/// Rows that share more factors than that take turns block by block.
pub(crate) const ROWS_OF_FACTORS: isize = 4;

/// Rows whose factors are kept for when they are repeated: those of a tile whose words hold two or four each, twice over. Most layouts
/// have fewer, and each takes room on the stack.
pub(crate) const KEPT_ROWS: usize = 8;

/// From this many bytes on a row of the destination is converted and streamed by itself, in pieces of so many, which start
/// lines; shorter rows are put together to tiles.
pub(crate) const CONVERT_PIECE: usize = 2048;

/// True where rows of three elements of two or four bytes that start lines, and long rows of tiles of two bytes that start none, are
/// better converted on their way than moved before: AMD's fifth Zen gained a fifth to two thirds. Other processors, where moving them
/// first was faster, were not measured since.
pub fn converts_in_one_step() -> bool {
    is_fifth_zen()
}

/// True where elements that become narrower, and follow one another in the destination but not in the source, had better be converted before
/// they are moved: the third Zen gained as much again with a few columns of words. Others were not measured with it.
pub fn narrows_first() -> bool {
    is_early_amd()
}

/// From this many bytes, source and destination together, a relayout on one thread is better written past the cache.
///
/// Until then ordinary stores stay in the cache and are up to twice as fast; beyond, each of them first reads the line
/// that it is about to replace. Where the last-level cache is a core's own neighbour (AMD) the limit was measured at half
/// of it; where it lies behind a mesh and only catches what the second level drops (Intel) at one and a half times the
/// second level.
pub fn stream_threshold() -> usize {
    static THRESHOLD: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *THRESHOLD.get_or_init(|| crate::processor::stream_threshold().unwrap_or(16 << 20))
}
