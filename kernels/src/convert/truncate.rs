//! Floats to integers of at most 32 bits, as vectors have instructions for it: towards zero, saturating, and zero for NaN, which
//! is what `as` does element by element.

/// Defines a function for a type of floats.
macro_rules! truncated {
    ($name:ident, $float:ty) => {
        /// The integer towards zero, or the nearer one of two bounds, which are integers of `i32`; zero for NaN.
        #[inline(always)]
        pub(super) fn $name(x: $float, least: $float, greatest: $float) -> i32 {
            // As one instruction has it: the bound where the number is NaN.
            let bounded = if x > least { x } else { least };
            let bounded = if bounded < greatest { bounded } else { greatest };
            // SAFETY: a number between two of `i32`.
            let whole: i32 = unsafe { bounded.to_int_unchecked() };
            if x.is_nan() { 0 } else { whole }
        }
    };
}

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
