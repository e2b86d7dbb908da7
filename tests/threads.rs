//! Any number of threads gives the same bytes, padding included.

use relayout::{Level, Padding, Plan, Shape, Streaming};

fn moved(line: &str, threads: usize, level: Level, streaming: Streaming) -> Vec<u8> {
    let (src, dst) = line.split_once(" -> ").unwrap();
    let (src, dst): (Shape, Shape) = (src.parse().unwrap(), dst.parse().unwrap());
    let plan = Plan::builder(&src, &dst)
        .padding(Padding::Fill(0x0123_4567_89ab_cdef))
        .max_threads(threads)
        .level(level)
        .streaming(streaming)
        .build()
        .unwrap();
    let bytes: Vec<u8> =
        (0..plan.src_byte_size()).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let mut out = vec![0xa5; plan.dst_byte_size() + 3];
    plan.execute(&bytes, &mut out[3..]).unwrap(); // a misaligned destination
    out
}

#[test]
fn threads_levels_and_streaming_change_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for line in [
        "bf16[1023,1100] -> bf16[1023,1100]{1,0:T(8,128)(2,1)}",
        "bf16[1023,1100]{1,0:T(8,128)(2,1)} -> bf16[1023,1100]",
        "s8[1023,1100]{1,0:T(8,128)(4,1)} -> s8[1023,1100]",
        "f32[2,203,1100]{2,1,0:T(8,128)} -> f32[2,203,1100]",
        "bf16[203,1100]{1,0:T(2,128)(2,1)} -> bf16[203,1100]",
        "bf16[1023,1100]{0,1} -> bf16[1023,1100]{1,0:T(8,128)(2,1)}",
        "s8[1023,2100] -> s8[1023,2100]{1,0:T(8,128)(4,1)}",
        "f32[777,901] -> f32[777,901]{0,1}",
        "u8[1777,901] -> u8[1777,901]{0,1}",
        "c128[377,301] -> c128[377,301]{0,1}",
        "f32[4,3,224,225] -> f32[4,3,224,225]{1,3,2,0}",
        "bf16[4,224,225,3] -> bf16[4,224,225,3]{2,1,3,0}",
        "bf16[2,301,16,64] -> bf16[2,301,16,64]{3,1,2,0}",
        "bf16[2,301,16,64] -> bf16[2,301,16,64]{1,3,2,0}",
        "u8[300,701]{1,0:E(24)} -> u8[300,701]{0,1:T(8,16)E(24)}",
        "f32[401,501] -> f32[401,501]{1,0:T(8,128)L(4096)E(64)}",
        "f32[37,5,11,13,17] -> f32[37,5,11,13,17]{0,3,1,4,2}",
        "bf16[511,1030]{1,0:T(8,128)(2,1)} -> bf16[511,1030]{1,0:T(16,128)(2,1)}",
        // Shared out across the rows of the destination.
        "f32[401,19,104]{2,1,0} -> f32[401,19,104]{0,1,2}",
        "f32[301,17,3,5,31] -> f32[301,17,3,5,31]{0,1,2,3,4}",
        "bf16[129,37,211] -> bf16[129,37,211]{0,1,2:T(8,128)(2,1)}",
        "u16[75,61,12,19]{3,2,1,0} -> u16[75,61,12,19]{1,2,0,3:E(32)}",
        "f32[20011,24] -> f32[20011,24]{0,1}",
        "f32[700,3,701] -> f32[700,3,701]{2,0,1}",
        "u8[301,501,3] -> u8[301,501,3]{1,0,2}",
        "f32[3,301,302,3] -> f32[3,301,302,3]{2,1,3,0}",
        // Slots that share bytes, on either side or both.
        "s4[1023,2100]{1,0:E(4)} -> s4[1023,2100]{0,1:E(4)}",
        "s4[1023,1500] -> s4[1023,1500]{1,0:T(8,128)(8,1)E(4)}",
        "u2[1501,1003]{1,0:E(2)} -> u2[1501,1003]{0,1}",
        "pred[2003,1501]{1,0:E(1)} -> pred[2003,1501]{0,1:T(3,5)E(1)}",
        "u1[5000003]{0:E(1)} -> u1[5000003]{0:L(7)E(1)}",
        "s4[1001,701]{1,0:E(4)} -> s4[1001,701]{0,1:T(7,9)E(24)}",
        // Other types, whole and at places that no part of a destination starts at.
        "f32[1023,1100] -> bf16[1023,1100]{0,1}",
        "bf16[1023,1100] -> f32[1023,1100]{1,0:T(8,128)}",
        "s4[401,501] -> c128[401,501]{0,1}",
        "f32[1001,1100]{0,1} -> s4[1001,1100]{1,0:E(4)}",
        "u16[1001,501] -> f32[1001,501]{0,1:T(7,9)E(56)}",
        "f64[301,702] -> s16[301,702]{1,0:T(3,5)E(24)}",
        "f32[1000,700]{1,0:T(3,5)} -> f16[1000,700]{1,0:T(8,128)}",
        "f32[1000,700]{1,0:T(3,5)} -> f64[1000,700]{1,0:T(8,16)E(72)}",
        // Offset tables.
        "f32[1000,700]{1,0:T(3,5)} -> f32[1000,700]{1,0:T(8,128)}",
        "u8[1001,1100]{1,0:T(*,5)} -> u8[1001,1100]{0,1:T(*,7)}",
        "u16[1001,501]{1,0:T(3,5)} -> u16[1001,501]{0,1:T(8,16)E(24)}",
        "s4[1001,1100]{1,0:T(7,5)E(4)} -> s4[1001,1100]{0,1:T(8,16)E(4)}",
    ] {
        let whole = moved(line, 1, Level::Scalar, Streaming::Never);
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            for streaming in [Streaming::Never, Streaming::Always] {
                for threads in [1, 2, 3, 4] {
                    let got = pool.install(|| moved(line, threads, level, streaming));
                    assert!(got == whole, "{line} on {threads} threads, {level}, {streaming:?}");
                }
            }
        }
    }
}
