//! Every threshold of the kernels, with the reason for its value.

/// Bytes of the destination that one staged tile covers in a run, where rows start lines: two lines, so that strides near
/// a power of two, which share few sets of the caches, still write pairs of lines.
pub(crate) const ALIGNED_RUN: usize = 256;

/// The same where rows start anywhere: the first and last line of a run are written in part and met again by the next
/// tile, so runs are long enough to make that rare.
pub(crate) const UNALIGNED_RUN: usize = 1024;

/// Bytes of the source that one staged tile reads in a run: whole lines, and several, since a line that is read in part
/// is gone before the rest is wanted.
pub(crate) const SOURCE_RUN: usize = 256;

/// A staged tile never takes more than this: half of the smallest second-level cache in use.
pub(crate) const STAGE_BYTES: usize = 512 * 1024;
