//! From one layout of an array to another: several tiles, `*`, tiling on both sides, packed slots.

mod common;

use common::{Engine, Failures, SENTINEL, planned, read_slot, reference, shape, vectors, write_slots};
use relayout::{Padding, Request};

fn low_bits(bits: usize) -> u128 {
    u128::MAX >> (128 - bits)
}

/// Slot k of the source holds k; the vectors say which slot of the destination gets it.
fn every_pair(engine: impl Engine) {
    let mut failures = Failures::default();
    for vector in vectors("relayout.jsonl") {
        let case = format!("{} -> {}", vector["from"].as_str().unwrap(), vector["to"].as_str().unwrap());
        let number = |field: &str| vector[field].as_u64().unwrap() as usize;
        let (from, to) = (shape(&vector, "from"), shape(&vector, "to"));
        let (from_bits, to_bits) = (number("from_bits"), number("to_bits"));
        let src = write_slots((0..number("from_slots")).map(|slot| slot as u128), from_bits);
        let moved =
            if from_bits == to_bits { from_bits } else { from.element_type().bit_width().unwrap() as usize };
        let output = vector["output"].as_array().unwrap();
        failures.equal(&case, "slots", output.len(), number("to_slots"));

        let fill = low_bits(to_bits) & 0x0123_4567_89ab_cdef;
        let before = vec![SENTINEL; (output.len() * to_bits).div_ceil(8)];
        for (padding, held) in
            [(Padding::Leave, None), (Padding::Zero, Some(0)), (Padding::Fill(fill), Some(fill))]
        {
            let mut dst = before.clone();
            if let Err(error) = engine(&Request::new(&from, &to).with_padding(padding), &src, &mut dst) {
                failures.fail(&case, error);
                continue;
            }
            for (slot, source) in output.iter().enumerate() {
                let expected = match (source.as_u64(), held) {
                    (Some(source), _) => u128::from(source) & low_bits(from_bits) & low_bits(moved),
                    (None, Some(value)) => value,
                    (None, None) => read_slot(&before, slot, to_bits),
                };
                failures.equal(
                    &case,
                    &format!("{padding:?} slot {slot}"),
                    read_slot(&dst, slot, to_bits),
                    expected,
                );
            }
        }
        failures.case_done();
    }
    failures.finish(130);
}

#[test]
fn reference_moves_every_pair() {
    every_pair(reference);
}

#[test]
fn plans_move_every_pair() {
    every_pair(planned);
}
