//! DLPack: how array libraries hand tensors to each other, as of version 1.1 of its header.

use super::{InteropError, Strided};
use crate::{ArrayShape, Layout, PrimitiveType};

/// The fields of DLPack's `DLTensor` that say where elements lie, without its pointers.
///
/// ```
/// use relayout::Plan;
/// use relayout::interop::dlpack::{DataType, Tensor};
/// let tensor = Tensor {
///     data_type: DataType { code: 4, bits: 16, lanes: 1 }, // kDLBfloat
///     shape: &[2, 3],
///     strides: Some(&[1, 2]),
///     byte_offset: 64,
///     is_subbyte_type_padded: false,
/// };
/// let strided = tensor.to_strided()?;
/// assert_eq!(strided.shape().to_string(), "bf16[2,3]{1,0}");
/// assert_eq!((strided.strides_bytes(), strided.offset_bytes()), (Some(&[2, 4][..]), 64));
/// let dense = strided.shape().clone();
/// let plan = Plan::builder(strided.shape(), &dense).src_strided(&strided).build()?;
/// assert_eq!(plan.src_byte_size(), 76); // from the tensor's `data` on
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tensor<'a> {
    /// `dtype`.
    pub data_type: DataType,
    /// `shape`, `ndim` entries.
    pub shape: &'a [i64],
    /// `strides`, in elements; none where the pointer is null, which means compact and row major.
    pub strides: Option<&'a [i64]>,
    /// `byte_offset`: where the first element lies behind `data`, at which the buffer starts.
    pub byte_offset: u64,
    /// Whether `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED` is set: each element narrower than a byte takes a byte. Else
    /// they are packed.
    pub is_subbyte_type_padded: bool,
}

/// DLPack's `DLDataType`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DataType {
    /// The kind of number, a `DLDataTypeCode`.
    pub code: u8,
    /// Bits of one lane.
    pub bits: u8,
    /// Numbers of one element; more than one make a dimension of their own, the fastest.
    pub lanes: u16,
}

use PrimitiveType as P;

/// (code, bits, type).
const TYPES: [(u8, u8, PrimitiveType); 32] = [
    (0, 1, P::S1),
    (0, 2, P::S2),
    (0, 4, P::S4),
    (0, 8, P::S8),
    (0, 16, P::S16),
    (0, 32, P::S32),
    (0, 64, P::S64),
    (1, 1, P::U1),
    (1, 2, P::U2),
    (1, 4, P::U4),
    (1, 8, P::U8),
    (1, 16, P::U16),
    (1, 32, P::U32),
    (1, 64, P::U64),
    (2, 16, P::F16),
    (2, 32, P::F32),
    (2, 64, P::F64),
    (4, 16, P::Bf16),
    (5, 64, P::C64),
    (5, 128, P::C128),
    (6, 8, P::Pred),
    (7, 8, P::F8e3m4),
    (8, 8, P::F8e4m3),
    (9, 8, P::F8e4m3b11fnuz),
    (10, 8, P::F8e4m3fn),
    (11, 8, P::F8e4m3fnuz),
    (12, 8, P::F8e5m2),
    (13, 8, P::F8e5m2fnuz),
    (14, 8, P::F8e8m0fnu),
    (15, 6, P::F6e2m3fn),
    (16, 6, P::F6e3m2fn),
    (17, 4, P::F4e2m1fn),
];

impl DataType {
    /// The element type of one lane.
    ///
    /// # Errors
    /// [`InteropError::DataType`] where there is none.
    pub fn element_type(self) -> Result<PrimitiveType, InteropError> {
        let found = TYPES.iter().find(|row| (row.0, row.1) == (self.code, self.bits));
        found.map(|row| row.2).ok_or(InteropError::DataType { code: self.code, bits: self.bits })
    }

    /// DLPack's name of an element type, one lane.
    ///
    /// ```
    /// use relayout::PrimitiveType;
    /// use relayout::interop::dlpack::DataType;
    /// let data_type = DataType::of(PrimitiveType::F8e5m2)?;
    /// assert_eq!((data_type.code, data_type.bits, data_type.lanes), (12, 8, 1));
    /// # Ok::<(), relayout::interop::InteropError>(())
    /// ```
    ///
    /// # Errors
    /// [`InteropError::NoDataType`] where DLPack has none.
    pub fn of(element_type: PrimitiveType) -> Result<DataType, InteropError> {
        let found = TYPES.iter().find(|row| row.2 == element_type);
        let &(code, bits, _) = found.ok_or(InteropError::NoDataType { element_type })?;
        Ok(DataType { code, bits, lanes: 1 })
    }
}

impl Tensor<'_> {
    /// The tensor as an array in the buffer that starts at `data`.
    ///
    /// # Errors
    /// [`InteropError`] for types without a counterpart, lists of different lengths, negative sizes, numbers beyond 64
    /// bits, and packed elements that are not compact.
    pub fn to_strided(self) -> Result<Strided, InteropError> {
        let DataType { bits, lanes, .. } = self.data_type;
        let element_type = self.data_type.element_type()?;
        if lanes == 0 {
            return Err(InteropError::NoLanes);
        }
        if let Some(strides) = self.strides.filter(|strides| strides.len() != self.shape.len()) {
            let (expected, found) = (self.shape.len(), strides.len());
            return Err(InteropError::Length { what: "strides", expected, found });
        }
        if let Some(dimension) = self.shape.iter().position(|&size| size < 0) {
            return Err(InteropError::NegativeSize { dimension, size: self.shape[dimension] });
        }
        let is_packed = bits < 8 && element_type.is_sub_byte_non_pred() && !self.is_subbyte_type_padded;
        if is_packed { self.packed(element_type) } else { self.whole_bytes(element_type) }
    }

    /// Sizes, with the lanes as the last dimension where there are several.
    fn sizes(&self) -> Vec<i64> {
        let lanes = self.data_type.lanes;
        self.shape.iter().copied().chain((lanes > 1).then_some(lanes.into())).collect()
    }

    fn whole_bytes(&self, element_type: PrimitiveType) -> Result<Strided, InteropError> {
        let lanes = i64::from(self.data_type.lanes);
        let lane_bytes = element_type.byte_width().map_or(0, i64::from);
        let overflow = |what| move || InteropError::Overflow { what };
        let compact;
        let strides = match self.strides {
            Some(strides) => strides,
            None => {
                compact = compact_strides(self.shape).ok_or_else(overflow("a stride"))?;
                &compact
            }
        };
        let element_bytes = lane_bytes * lanes; // at most 16 times 65,535
        let in_bytes = strides.iter().map(|stride| stride.checked_mul(element_bytes));
        let strides = in_bytes.chain((lanes > 1).then_some(Some(lane_bytes))).collect::<Option<Vec<i64>>>();
        let strides = strides.ok_or_else(overflow("a stride"))?;
        let offset = i64::try_from(self.byte_offset).map_err(|_| overflow("byte_offset")())?;
        Strided::from_numpy(element_type, &self.sizes(), &strides)?.at_offset_bytes(offset)
    }

    /// Elements that share bytes have no byte strides: the tensor must be dense.
    fn packed(&self, element_type: PrimitiveType) -> Result<Strided, InteropError> {
        let compact = compact_strides(self.shape).ok_or(InteropError::Overflow { what: "a stride" })?;
        let is_compact = self.strides.is_none_or(|strides| {
            let sizes = self.shape.iter().zip(strides.iter().zip(&compact));
            self.shape.contains(&0)
                || sizes.into_iter().all(|(&size, (found, wanted))| size == 1 || found == wanted)
        });
        if !is_compact || self.byte_offset != 0 {
            return Err(InteropError::StridesOfPacked { element_type });
        }
        let sizes = self.sizes();
        let layout = Layout::row_major(sizes.len()).with_element_size_in_bits(self.data_type.bits.into());
        Strided::dense(ArrayShape::new(element_type, sizes).with_layout(layout))
    }
}

/// Strides in elements of a compact row-major array; `None` where one overflows.
fn compact_strides(shape: &[i64]) -> Option<Vec<i64>> {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = shape[dimension].max(1).checked_mul(strides[dimension])?;
    }
    Some(strides)
}
