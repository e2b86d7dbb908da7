//! The crates, each as a way of running a permutation; none where a crate cannot.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use ndarray::{ArrayView, ArrayViewMut, IxDyn, ShapeBuilder};
use strided_view::{StridedView, StridedViewMut};
use threadteam::Exec;

use crate::Way;
use crate::case::{Permutation, row_major};

/// A crate and how it runs a permutation.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) make: for<'a> fn(&'a Permutation) -> Option<Way<'a>>,
}

/// All of them, relayout first.
pub(crate) const PEERS: &[Peer] = &[
    Peer { name: "relayout", make: relayout },
    Peer { name: "transpose", make: transpose },
    Peer { name: "ndarray", make: ndarray },
    Peer { name: "strided", make: strided_perm },
    #[cfg(feature = "hptt")]
    Peer { name: "hptt", make: hptt },
];

/// Calls a function of an element type with as many bytes as the case's.
macro_rules! by_element {
    ($permutation:expr, $function:ident) => {
        match $permutation.element_bytes {
            1 => Some($function::<u8>($permutation)),
            2 => Some($function::<u16>($permutation)),
            4 => Some($function::<f32>($permutation)),
            8 => Some($function::<f64>($permutation)),
            16 => Some($function::<u128>($permutation)),
            _ => None,
        }
    };
}

fn relayout(permutation: &Permutation) -> Option<Way<'_>> {
    Some(Box::new(|src, dst| permutation.plan.execute(src, dst).expect("buffers of the plan's sizes")))
}

fn transpose(permutation: &Permutation) -> Option<Way<'_>> {
    fn run<T: Pod>(permutation: &Permutation) -> Way<'_> {
        let [height, width] = permutation.shape[..] else { unreachable!("asked for before") };
        Box::new(move |src, dst| {
            transpose::transpose::<T>(cast_slice(src), cast_slice_mut(dst), width, height);
        })
    }
    let is_plane = permutation.order == [1, 0];
    if is_plane { by_element!(permutation, run) } else { None }
}

fn ndarray(permutation: &Permutation) -> Option<Way<'_>> {
    fn run<T: Pod>(permutation: &Permutation) -> Way<'_> {
        let shape = permutation.dst_shape();
        let (from, to) = (permutation.src_strides(), row_major(&shape));
        Box::new(move |src, dst| {
            let src = ArrayView::from_shape(IxDyn(&shape).strides(IxDyn(&from)), cast_slice::<u8, T>(src));
            let dst =
                ArrayViewMut::from_shape(IxDyn(&shape).strides(IxDyn(&to)), cast_slice_mut::<u8, T>(dst));
            dst.expect("a dense view").assign(&src.expect("a permuted view"));
        })
    }
    by_element!(permutation, run)
}

fn strided_perm(permutation: &Permutation) -> Option<Way<'_>> {
    fn run<T: Pod + Send + Sync>(permutation: &Permutation) -> Way<'_> {
        let shape = permutation.dst_shape();
        let signed =
            |strides: Vec<usize>| strides.into_iter().map(|stride| stride as isize).collect::<Vec<_>>();
        let (from, to) = (signed(permutation.src_strides()), signed(row_major(&shape)));
        Box::new(move |src, dst| {
            let src = StridedView::<T>::new(cast_slice(src), &shape, &from, 0).expect("a permuted view");
            let mut dst = StridedViewMut::new(cast_slice_mut(dst), &shape, &to, 0).expect("a dense view");
            strided_perm::copy_into(&mut dst, &src, Exec::serial()).expect("views of one shape");
        })
    }
    by_element!(permutation, run)
}

#[cfg(feature = "hptt")]
fn hptt(permutation: &Permutation) -> Option<Way<'_>> {
    use hptt::MemoryOrder::RowMajor;
    use num_complex::Complex64;
    let Permutation { shape, order, .. } = permutation;
    Some(match permutation.element_bytes {
        4 => Box::new(move |src, dst| {
            hptt::transpose_f32(order, 1.0, cast_slice(src), shape, 0.0, cast_slice_mut(dst), 1, RowMajor)
                .expect("a permutation");
        }),
        8 => Box::new(move |src, dst| {
            hptt::transpose_f64(order, 1.0, cast_slice(src), shape, 0.0, cast_slice_mut(dst), 1, RowMajor)
                .expect("a permutation");
        }),
        16 => Box::new(move |src, dst| {
            let (one, zero) = (Complex64::new(1.0, 0.0), Complex64::new(0.0, 0.0));
            let (src, dst) = (cast_slice(src), cast_slice_mut(dst));
            hptt::transpose_c64(order, one, src, shape, zero, dst, 1, false, RowMajor)
                .expect("a permutation");
        }),
        _ => return None,
    })
}
