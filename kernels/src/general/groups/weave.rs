//! Groups of a few elements that follow one another, woven to words.

use crate::interleave::full_zips;
use crate::lanes::{Held, LANE, LINE, Lanes};
use crate::rows::copy_run;
use crate::walk::Point;

/// Lines of groups that are read from a copy: more than four groups of a line each, and two registers.
const REST: usize = 8;

/// Weaves `count` times `K` groups of `group` elements of `E` bytes, all one behind the other, to as many words.
#[derive(Clone, Copy)]
pub(crate) struct Weave<const E: usize, const K: usize> {
    /// Elements that a register has room for.
    pub(crate) group: usize,
    pub(crate) count: usize,
    /// How far ahead all lines are asked for, in bytes; they are not if 0.
    pub(crate) ahead: usize,
    /// Where the source ends, up to which all may be read: with the last of these groups, or behind it.
    pub(crate) end: *const u8,
}

impl<const E: usize, const K: usize> Point for Weave<E, K> {
    /// # Safety
    /// All groups must be readable from `src` on, and all up to the end, and as many bytes as groups have, and `K` registers behind them,
    /// writable at `dst`, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut at = 0;
        while self.ahead > 0 && at < self.count * self.group * E * K {
            lanes.prefetch(src.wrapping_add(self.ahead + at));
            at += LINE;
        }
        let (half, lane) = (lanes.narrow(), lanes.narrow().narrow());
        // SAFETY: the caller's promise.
        unsafe {
            match self.group * E {
                ..=LANE => self.groups(lane, src, dst),
                bytes if bytes <= <L::Narrow as Lanes>::BYTES => self.groups(half, src, dst),
                _ => self.groups(lanes, src, dst),
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

impl<const E: usize, const K: usize> Weave<E, K> {
    /// All groups, in the order of memory, since registers have more behind what they are read for.
    ///
    /// # Safety
    /// As [`Point::point`], with registers that have room for a group.
    #[inline(always)]
    unsafe fn groups<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let (group, words) = (self.group * E, self.group * E * K);
        // Registers would end behind the last groups of the source, but not behind others. A copy is read as soon as it is written, which
        // waits until all that was stored before it is in the cache.
        let (whole, room) = (self.count * words, self.end.addr() - src.addr());
        let is_last = room < whole + L::BYTES;
        let beyond = if is_last { (L::BYTES - group).div_ceil(words).min(self.count) } else { 0 };
        let mut at = 0;
        // SAFETY: the caller's promise; up to the end all is readable, and the last groups are read from a copy with room behind it.
        unsafe {
            while at < self.count - beyond {
                Self::words(lanes, (src.add(at * words), group), dst.add(at * words));
                at += 1;
            }
            if !is_last {
                return;
            }
            let mut rest = Held([[0; LINE]; REST]);
            let rest = rest.0.as_mut_ptr().cast::<u8>();
            copy_run(lanes, src.add(at * words), rest, beyond * words, (0, 0));
            let mut number = 0;
            while number < beyond {
                Self::words(lanes, (rest.add(number * words), group), dst.add((at + number) * words));
                number += 1;
            }
        }
    }

    /// The words of `K` groups, so many bytes apart.
    ///
    /// # Safety
    /// A register must be readable from each group on, and `K` writable at `dst`.
    #[inline(always)]
    unsafe fn words<L: Lanes>(lanes: L, (src, group): (*const u8, usize), dst: *mut u8) {
        let mut groups = [lanes.zero(); K];
        // SAFETY: the caller's promise.
        unsafe {
            let mut way = 0;
            while way < K {
                groups[way] = lanes.load(src.add(way * group));
                way += 1;
            }
            full_zips::<L, E, K>(lanes, &mut groups);
            let mut part = 0;
            while part < K {
                lanes.store(dst.add(part * L::BYTES), groups[part]);
                part += 1;
            }
        }
    }
}
