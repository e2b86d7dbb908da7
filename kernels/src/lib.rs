//! Copy kernels: they see bytes, strides and extents, and know nothing of shapes or layouts.
