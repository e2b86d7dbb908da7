//! Slices of numbers, and memory that nobody has written yet: what they become, and what is refused.

use std::mem::MaybeUninit;

use relayout::{AlignedBuffer, BufferError, Conversion, End, ExecuteError, Padding, Plan, Problem, Region};

fn problem(line: &str) -> Problem {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn plan(line: &str) -> Plan {
    let Problem { src, dst } = problem(line);
    Plan::new(&src, &dst).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn size(end: End, expected: usize, found: usize) -> Result<(), ExecuteError> {
    Err(ExecuteError::BufferSize { end, expected, found, at_least: false })
}

#[test]
fn numbers_are_as_wide_as_slots() {
    let width = |end, expected, found| Err(ExecuteError::ElementSize { end, expected, found });
    let plan_of_f32 = plan("f32[2,3] -> f32[2,3]{0,1}");
    let mut dst = [9f32; 6];
    assert_eq!(plan_of_f32.execute_typed(&[0f64; 3], &mut dst), width(End::Source, 4, 8));
    assert_eq!(plan_of_f32.execute_typed(&[0u8; 24], &mut dst), width(End::Source, 4, 1));
    assert_eq!(plan_of_f32.execute_typed(&[(); 24], &mut dst), width(End::Source, 4, 0));
    assert_eq!(plan_of_f32.execute_typed(&[0f32; 6], &mut [0u16; 12]), width(End::Destination, 4, 2));
    assert_eq!(plan_of_f32.execute_typed(&[0f32; 5], &mut dst), size(End::Source, 24, 20));
    assert_eq!(dst, [9.0; 6]);
    let packed = plan("s4[6] -> s4[6]{0:E(4)}");
    let mut nibbles = [0u8; 3];
    assert_eq!(packed.execute_typed(&[1i8, 2, 3, 4, 5, 6], &mut nibbles), Ok(()));
    assert_eq!(nibbles, [0x21, 0x43, 0x65]);
    assert_eq!(packed.execute_typed(&[0i8; 6], &mut [0u16; 2]), width(End::Destination, 1, 2));
    let wide = plan("u8[2] -> u8[2]{0:E(24)}");
    let mut slots = [[9u8; 3]; 2];
    assert_eq!(wide.execute_typed(&[1u8, 2], &mut slots), Ok(()));
    assert_eq!(slots, [[1, 0, 0], [2, 0, 0]]);
}

#[test]
fn each_side_has_numbers_of_its_own() {
    let narrowing = plan("f32[2,3] -> s16[2,3]{0,1}");
    let mut columns = [0i16; 6];
    assert_eq!(narrowing.execute_typed(&[1f32, -2.5, 3.0, 4.0, 5.0, 6.0], &mut columns), Ok(()));
    assert_eq!(columns, [1, 4, -2, 5, 3, 6]);
    let error = ExecuteError::ElementSize { end: End::Destination, expected: 2, found: 4 };
    assert_eq!(narrowing.execute_typed(&[0f32; 6], &mut [0f32; 3]), Err(error));
}

#[test]
fn every_byte_is_written_where_elements_change() {
    let ef57 = |line: &str| {
        let Problem { src, dst } = problem(line);
        Plan::builder(&src, &dst).conversion(Conversion::new().with_ef57()).build().expect("a plan")
    };
    for plan in [
        plan("f32[3,5] -> u8[3,5]{0,1:T(2,4)}"),
        plan("f32[7] -> s16[7]{0:E(24)}"),
        plan("s8[7] -> s4[7]{0:E(4)}"),
        plan("s4[7] -> s4[7]{0:T(5)E(4)}"),
        plan("s4[7]{0:E(4)} -> s4[7]{0:T(5)E(24)}"),
        ef57("f64[3,2] -> f32[3,4]{0,1:T(2,4)}"),
        ef57("f64[3] -> f32[6]{0:E(64)}"),
        ef57("f32[6] -> f64[3]{0:T(2)E(128)}"),
    ] {
        let src = vec![0x11; plan.src_byte_size()];
        let written = |before: u8| {
            let mut memory = vec![MaybeUninit::new(before); plan.dst_byte_size()];
            plan.execute_uninit(&src, &mut memory).expect("the right sizes").to_vec()
        };
        assert_eq!(written(0), written(0xff), "{plan}");
    }
}

#[cfg(feature = "half")]
#[test]
fn halves_are_numbers() {
    use half::{bf16, f16};
    let rows: Vec<bf16> = (0..6).map(|i| bf16::from_f32(i as f32)).collect();
    let mut columns = [bf16::ZERO; 6];
    plan("bf16[2,3] -> bf16[2,3]{0,1}").execute_typed(&rows, &mut columns).expect("the right sizes");
    assert_eq!(columns.map(bf16::to_f32), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let mut copy = [f16::ZERO; 2];
    plan("f16[2] -> f16[2]").execute_typed(&[f16::ONE, f16::NAN], &mut copy).expect("the right sizes");
    assert!(copy[0] == f16::ONE && copy[1].is_nan());
}

#[cfg(feature = "half")]
#[test]
fn halves_are_elements() {
    use relayout::{Element, PrimitiveType};
    assert_eq!(<half::bf16 as Element>::PRIMITIVE_TYPE, PrimitiveType::Bf16);
    assert_eq!(<half::f16 as Element>::PRIMITIVE_TYPE, PrimitiveType::F16);
}

/// Memory as it may come: it shows what it held where nobody writes.
fn used(len: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xa5); len]
}

#[test]
fn memory_of_another_size_is_left_alone() {
    let plan = plan("u8[3] -> u8[3]{0:T(4)}");
    for (src, dst, error) in [
        (2, 4, size(End::Source, 3, 2)),
        (4, 4, size(End::Source, 3, 4)),
        (3, 3, size(End::Destination, 4, 3)),
        (3, 5, size(End::Destination, 4, 5)),
    ] {
        let mut memory = used(dst);
        assert_eq!(plan.execute_uninit(&vec![0; src], &mut memory).map(|_| ()), error);
        // SAFETY: all of it was written when it was made.
        assert!(memory.iter().all(|byte| unsafe { byte.assume_init() } == 0xa5));
    }
}

#[test]
fn what_is_not_moved_becomes_zero() {
    let Problem { src, dst } = problem("u8[2,3] -> u8[2,3]{1,0:T(4)}");
    let builder = || Plan::builder(&src, &dst);
    let numbers = [1, 2, 3, 4, 5, 6];
    for (builder, expected) in [
        (builder(), &[1, 2, 3, 0, 4, 5, 6, 0][..]),
        (builder().padding(Padding::Fill(7)), &[1, 2, 3, 7, 4, 5, 6, 7]),
        (builder().padding(Padding::Leave), &[1, 2, 3, 0, 4, 5, 6, 0]),
        (builder().region(Region::new([1, 2])), &[1, 2, 0, 0, 0, 0, 0, 0]),
        (Plan::builder(&src, &src).dst_strides_bytes(&[5, 2]), &[1, 0, 2, 0, 3, 4, 0, 5, 0, 6]),
        // Strided memory may be longer.
        (Plan::builder(&src, &src).dst_strides_bytes(&[5, 2]), &[1, 0, 2, 0, 3, 4, 0, 5, 0, 6, 0, 0]),
    ] {
        let plan = builder.build().expect("a plan");
        let mut memory = used(expected.len());
        assert_eq!(plan.execute_uninit(&numbers, &mut memory).expect("the right sizes"), expected);
    }
}

#[test]
fn buffers_are_written_once() {
    let plan = plan("u8[3] -> u8[3]{0:T(4)}");
    let into = |src: &'static [u8], bytes| {
        AlignedBuffer::written_by(bytes, |memory| plan.execute_uninit(src, memory))
    };
    assert_eq!(into(&[1, 2, 3], 4).expect("a buffer")[..], [1, 2, 3, 0]);
    assert_eq!(into(&[1, 2], 4).map(|_| ()), size(End::Source, 3, 2));
    let bytes = usize::MAX;
    assert_eq!(into(&[], bytes).map(|_| ()), Err(BufferError::OutOfMemory { bytes }.into()));
}
