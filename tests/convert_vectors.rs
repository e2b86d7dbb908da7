//! Conversions against numpy and ml_dtypes: every input of narrow types, many of wide ones; see
//! `tests/data/convert/README.md`.

use std::collections::HashMap;
use std::path::Path;

use relayout::{Conversion, PrimitiveType, Rounding, convert};

fn element_type(name: &str) -> PrimitiveType {
    PrimitiveType::from_name(name).unwrap_or_else(|| panic!("no type {name}"))
}

fn hex(digits: &str) -> u128 {
    u128::from_str_radix(digits, 16).unwrap_or_else(|error| panic!("{digits}: {error}"))
}

fn digits_of(element_type: PrimitiveType) -> usize {
    (element_type.bit_width().expect("an element type") as usize).div_ceil(4)
}

/// Numbers of a fixed count of digits.
fn numbers(data: &str, digits: usize) -> impl Iterator<Item = u128> {
    data.as_bytes().chunks(digits).map(|chunk| hex(std::str::from_utf8(chunk).expect("digits")))
}

fn fnv(results: &[u128]) -> u128 {
    let bytes = results.iter().flat_map(|&result| (result as u64).to_le_bytes());
    bytes.fold(0x811c_9dc5_u32, |state, byte| (state ^ u32::from(byte)).wrapping_mul(0x0100_0193)).into()
}

/// Inputs and expectations of one pair.
struct Pair<'a> {
    from: PrimitiveType,
    to: PrimitiveType,
    inputs: &'a [u128],
    options: &'a Conversion,
    form: &'a str,
    data: &'a str,
}

impl Pair<'_> {
    fn found(&self) -> Vec<u128> {
        let one =
            |&bits: &u128| convert::value(self.from, self.to, bits, self.options).expect("a defined pair");
        self.inputs.iter().map(one).collect()
    }

    fn check(&self) -> Result<(), String> {
        let found = self.found();
        if let Some(group) = self.form.strip_prefix("hashes") {
            let group: usize = group.parse().expect("a number");
            let hashes = found.chunks(group).map(fnv);
            return self.compare(group, hashes, numbers(self.data, 8));
        }
        if self.form == "values" {
            return self.compare(1, found.into_iter(), numbers(self.data, digits_of(self.to)));
        }
        let runs = self.data.split(' ').flat_map(|run| {
            let (value, count) = run.split_once('*').expect("value*count");
            std::iter::repeat_n(hex(value), hex(count) as usize)
        });
        self.compare(1, found.into_iter(), runs)
    }

    /// Names the first input, or the first of a group, whose result differs.
    fn compare(
        &self,
        group: usize,
        mut found: impl Iterator<Item = u128>,
        mut expected: impl Iterator<Item = u128>,
    ) -> Result<(), String> {
        for inputs in self.inputs.chunks(group) {
            let (found, expected) = (found.next(), expected.next());
            if found != expected {
                let Pair { from, to, .. } = self;
                return Err(format!("{from} {:#x} -> {to}: {found:x?}, expected {expected:x?}", inputs[0]));
            }
        }
        if expected.next().is_some() { Err("more results than inputs".to_owned()) } else { Ok(()) }
    }
}

/// Checks all pairs of a file; the inputs of wide types that it tells are there for later ones too.
fn check_file(name: &str, inputs: &mut HashMap<String, Vec<u128>>, options: &Conversion, expected: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/convert").join(name);
    let text = std::fs::read_to_string(path).expect("the vectors");
    let (mut pairs, mut failures) = (0, Vec::new());
    for line in text.lines() {
        let [source, target, form, data] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else {
            panic!("a line of another form: {line}");
        };
        let from = element_type(source);
        if target == "inputs" {
            inputs.insert(source.to_owned(), numbers(data, digits_of(from)).collect());
            continue;
        }
        let every = || (0..1 << from.bit_width().expect("an element type")).collect();
        let inputs = inputs.entry(source.to_owned()).or_insert_with(every);
        failures.extend(Pair { from, to: element_type(target), inputs, options, form, data }.check().err());
        pairs += 1;
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert_eq!(pairs, expected, "pairs");
}

#[test]
fn every_pair_as_numpy_has_it() {
    let mut inputs = HashMap::new();
    check_file("vectors.txt", &mut inputs, &Conversion::new(), 30 * 29);
    let nearest = Conversion::new().with_rounding(Rounding::NearestEven);
    check_file("nearest.txt", &mut inputs, &nearest, 15 * 14);
}

/// The crate `half`: all 16-bit inputs, and `f32` inputs in steps that reach every exponent, NaNs and their payloads among them.
#[test]
fn sixteen_bit_floats_as_half_has_them() {
    use PrimitiveType as P;
    let options = Conversion::new();
    let one = |from, to, bits| convert::value(from, to, bits, &options).expect("a defined pair");
    for bits in 0..=u16::MAX {
        let (f16, bf16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
        let bits = u128::from(bits);
        assert_eq!(one(P::F16, P::F32, bits), f16.to_f32().to_bits().into(), "f16 {bits:#x}");
        assert_eq!(one(P::Bf16, P::F32, bits), bf16.to_f32().to_bits().into(), "bf16 {bits:#x}");
        assert_eq!(one(P::F16, P::F64, bits), f16.to_f64().to_bits().into(), "f16 {bits:#x}");
        assert_eq!(one(P::Bf16, P::F64, bits), bf16.to_f64().to_bits().into(), "bf16 {bits:#x}");
    }
    for bits in (0..=u32::MAX).step_by(4093) {
        let value = f32::from_bits(bits);
        let [f16, bf16] = [half::f16::from_f32(value).to_bits(), half::bf16::from_f32(value).to_bits()];
        assert_eq!(one(P::F32, P::F16, bits.into()), f16.into(), "f32 {bits:#x}");
        assert_eq!(one(P::F32, P::Bf16, bits.into()), bf16.into(), "f32 {bits:#x}");
    }
}
