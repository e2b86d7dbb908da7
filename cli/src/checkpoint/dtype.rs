//! The element types of checkpoint files in XLA's words.

use relayout::PrimitiveType;
use safetensors::Dtype;

use PrimitiveType as P;

/// (safetensors, XLA); the two 6-bit floats are missing because their packing has no counterpart in XLA's layouts.
const SAFETENSORS: [(Dtype, PrimitiveType); 20] = [
    (Dtype::BOOL, P::Pred),
    (Dtype::F4, P::F4e2m1fn),
    (Dtype::U8, P::U8),
    (Dtype::I8, P::S8),
    (Dtype::F8_E5M2, P::F8e5m2),
    (Dtype::F8_E4M3, P::F8e4m3fn),
    (Dtype::F8_E8M0, P::F8e8m0fnu),
    (Dtype::F8_E4M3FNUZ, P::F8e4m3fnuz),
    (Dtype::F8_E5M2FNUZ, P::F8e5m2fnuz),
    (Dtype::I16, P::S16),
    (Dtype::U16, P::U16),
    (Dtype::F16, P::F16),
    (Dtype::BF16, P::Bf16),
    (Dtype::I32, P::S32),
    (Dtype::U32, P::U32),
    (Dtype::F32, P::F32),
    (Dtype::C64, P::C64),
    (Dtype::F64, P::F64),
    (Dtype::I64, P::S64),
    (Dtype::U64, P::U64),
];

/// (npy type and size, XLA), without the byte order, which moves with the element.
const NPY: [(&str, PrimitiveType); 14] = [
    ("b1", P::Pred),
    ("i1", P::S8),
    ("i2", P::S16),
    ("i4", P::S32),
    ("i8", P::S64),
    ("u1", P::U8),
    ("u2", P::U16),
    ("u4", P::U32),
    ("u8", P::U64),
    ("f2", P::F16),
    ("f4", P::F32),
    ("f8", P::F64),
    ("c8", P::C64),
    ("c16", P::C128),
];

/// The XLA type of a safetensors type.
pub(super) fn from_safetensors(dtype: Dtype) -> Option<PrimitiveType> {
    SAFETENSORS.iter().find(|row| row.0 == dtype).map(|row| row.1)
}

/// The safetensors type of an XLA type.
pub(super) fn to_safetensors(element_type: PrimitiveType) -> Option<Dtype> {
    SAFETENSORS.iter().find(|row| row.1 == element_type).map(|row| row.0)
}

/// The XLA type of an npy `descr` such as `<f4`.
pub(super) fn from_npy(descr: &str) -> Option<PrimitiveType> {
    let name = descr.strip_prefix(['<', '>', '|', '='])?;
    NPY.iter().find(|row| row.0 == name).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_agree() {
        for (dtype, element_type) in SAFETENSORS {
            let bits = if element_type == P::Pred { Some(8) } else { element_type.bit_width() };
            assert_eq!(Some(dtype.bitsize() as u32), bits, "{dtype}");
            assert_eq!(to_safetensors(element_type), Some(dtype));
        }
        for (name, element_type) in NPY {
            let bytes: u32 = name[1..].parse().unwrap();
            assert_eq!(Some(bytes), element_type.byte_width(), "{name}");
        }
    }

    #[test]
    fn byte_order_is_needed_and_ignored() {
        assert_eq!(from_npy("<f4"), Some(P::F32));
        assert_eq!(from_npy(">f4"), Some(P::F32));
        assert_eq!(from_npy("f4"), None);
        assert_eq!(from_npy("|V2"), None);
    }
}
