//! Floats to integers of at most 32 bits, as vectors have instructions for it: towards zero or to the nearest, saturating, and
//! zero for NaN, which is what `as` does element by element.

/// Integers from one to another, to the nearest of which numbers go, or towards zero.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: f32,
    pub(super) greatest: f32,
    pub(super) nearest: bool,
    /// The bits that stay.
    pub(super) mask: u32,
}

/// A number, or the nearer one of two bounds; as one instruction has it, a bound where the number is NaN.
macro_rules! bounded {
    ($x:ident, $least:ident, $greatest:ident) => {{
        let bounded = if $x > $least { $x } else { $least };
        if bounded < $greatest { bounded } else { $greatest }
    }};
}

/// The nearest integer, of two the even one, or the nearer one of two bounds, which are integers of 17 bits; zero for NaN. It
/// stands in the low 16 bits.
#[inline(always)]
pub(super) fn nearest(x: f32, least: f32, greatest: f32) -> u32 {
    // The last place of the sum is the integers', below a leading one of which numbers of either sign take nothing.
    const WHOLE: f32 = 12_582_912.0;
    let sum = bounded!(x, least, greatest) + WHOLE;
    if x.is_nan() { 0 } else { sum.to_bits() }
}

/// Defines a function for a type of floats.
macro_rules! truncated {
    ($name:ident, $float:ty) => {
        /// The integer towards zero, or the nearer one of two bounds, which are integers of `i32`; zero for NaN.
        #[inline(always)]
        pub(super) fn $name(x: $float, least: $float, greatest: $float) -> i32 {
            // SAFETY: a number between two of `i32`.
            let whole: i32 = unsafe { bounded!(x, least, greatest).to_int_unchecked() };
            if x.is_nan() { 0 } else { whole }
        }
    };
}

/// Defines a function for a type of floats, of which those from a number on have no fractions.
macro_rules! rounded {
    ($name:ident, $float:ty, $whole:literal) => {
        /// The nearest integer where that is wanted, of two the even one; else the number as it is.
        #[inline(always)]
        pub(super) fn $name(x: $float, nearest: bool) -> $float {
            // Sums have no fractions either: they are rounded.
            let whole = (x.abs() + $whole) - $whole;
            if nearest && x.abs() < $whole { whole.copysign(x) } else { x }
        }
    };
}

rounded!(rounded, f32, 8_388_608.0);
rounded!(rounded64, f64, 4_503_599_627_370_496.0);

truncated!(truncated, f32);
truncated!(truncated64, f64);

/// The same for all of `i32`, whose greatest number no `f32` is.
#[inline(always)]
pub(super) fn truncated_whole(x: f32) -> i32 {
    const BEHIND: f32 = 2_147_483_648.0;
    match x >= BEHIND {
        true => i32::MAX,
        false => truncated(x, -BEHIND, 2_147_483_520.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_to_even_integers() {
        let edges = [0.0, 0.3, 0.5, 0.5f32.next_up(), 1.5, 2.5, 126.5, 127.5, 8_388_607.5, 8_388_609.0, 1e30];
        for x in edges.into_iter().chain([f32::INFINITY, f32::MIN_POSITIVE / 2.0]).flat_map(|x| [x, -x]) {
            assert_eq!(rounded(x, true).to_bits(), x.round_ties_even().to_bits(), "{x}");
            let wide = f64::from(x) + 1e-9;
            assert_eq!(rounded64(wide, true).to_bits(), wide.round_ties_even().to_bits(), "{wide}");
            assert_eq!((rounded(x, false), rounded64(wide, false)), (x, wide));
        }
        assert!(rounded(f32::NAN, true).is_nan());
        for x in edges.into_iter().flat_map(|x| [x, -x]).chain([f32::NAN, 1e9, -32769.0, 65534.5, 65535.5]) {
            let whole = x.round_ties_even();
            assert_eq!(nearest(x, -128.0, 127.0) as i8, whole as i8, "{x}");
            assert_eq!(nearest(x, -32768.0, 32767.0) as i16, whole as i16, "{x}");
            assert_eq!(nearest(x, 0.0, 65535.0) as u16, whole as u16, "{x}");
        }
    }

    #[test]
    fn bounds_and_what_is_beside_them() {
        let edges =
            [0.0, 0.5, 0.99, 1.0, 127.0, 127.5, 128.0, 255.0, 255.9, 256.0, 32767.5, 65535.9, 65536.0];
        let wide = [2_147_483_520.0, 2_147_483_647.0, 2_147_483_648.0, 4e9, 1e30, f32::MAX, f32::INFINITY];
        for x in edges.into_iter().chain(wide).flat_map(|x| [x, -x]).chain([f32::NAN, -f32::NAN]) {
            assert_eq!(truncated(x, -128.0, 127.0), (x as i8).into(), "{x}");
            assert_eq!(truncated(x, 0.0, 65535.0), (x as u16).into(), "{x}");
            assert_eq!(truncated_whole(x), x as i32, "{x}");
            let (x, least, greatest) = (f64::from(x), i32::MIN.into(), i32::MAX.into());
            assert_eq!(truncated64(x, least, greatest), x as i32, "{x}");
            assert_eq!(truncated64(x.next_down(), least, greatest), x.next_down() as i32, "{x}");
        }
    }
}
