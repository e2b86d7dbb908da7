//! Any text is either refused or read into something that prints canonically and is read again as the same.

mod cases;

use cases::check_text;
use proptest::prelude::*;

/// Texts that use all of the grammar; the accepted ones of the conformance vectors come along.
fn valid_texts() -> Vec<String> {
    let vectors = include_str!("data/parse.jsonl").lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("the vectors are JSON");
        line["text"].as_str().map(str::to_owned)
    });
    let own = [
        "f32[2,<=3,?]{2,0,1:T(8,*,128)(2,1)L(7)#(u32)*(u8)E(16)S(-3)SC(0:1,2)(1:)M(9)}",
        "(f32[2], /*index=1*/ (b(u8[]), token[]), opaque[]) // end\n",
        "{1,0:T(8,128)P((f32[2]{0}, ()))}",
        "f32[8191,8100] -> bf16[8191,8100]{1,0:T(8,128)(2,1)}",
        "ROOT %a.1 = (f32[2], s32[]) f(bf16[2]{0:S(1)} %b, c), kind=k, m={a=\"x, \\\" }\" b={[1]}}, s=[2]<=[2]",
        "c = f32[2] constant({1, 2}), metadata={op_name=\"größe\"} /* end */",
        "(8,*,1)",
        "(0:1,2)",
        "<=8",
    ];
    vectors.chain(own.map(str::to_owned)).collect()
}

/// A valid text with a few edits: pieces of the grammar put in, taken out or doubled.
fn mutated() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        "<=",
        "*",
        "#",
        "->",
        "=",
        "%",
        "\"",
        "\\",
        "/*",
        "*/",
        "//",
        " ",
        "\n",
        "\t",
        "\0",
        "é",
        "T",
        "SC",
        "S",
        "L",
        "E",
        "M",
        "P",
        "D",
        "b",
        "-",
        "1",
        "0",
        "9223372036854775807",
        "99999999999999999999",
        "f32[2]{0}",
        "token[]",
        "{0:T(2)}",
        "(2)",
        "ROOT",
        "u8",
    ]);
    let edit = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), pieces);
    (prop::sample::select(valid_texts()), prop::collection::vec(edit, 1..4)).prop_map(|(mut text, edits)| {
        for (from, to, piece) in edits {
            let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let from = *from.get(&boundaries);
            let to = (from + to.index(4)).min(text.len());
            if text.is_char_boundary(to) {
                text.replace_range(from..to, piece);
            }
        }
        text
    })
}

#[test]
fn valid_texts_are_stable() {
    valid_texts().iter().for_each(|text| check_text(text));
}

#[test]
fn depth_does_not_exhaust_the_stack() {
    for opening in ["(", "b(", "[", "{", "f32[1]{0:P(", "a = (", "a = f32[] f((", "a = f32[] f(x), b={"] {
        check_text(&opening.repeat(100_000));
    }
    check_text(&format!("a = f32[] f(x), b={}", "{".repeat(100_000)));
    check_text(&format!("a = f32[] constant({}{})", "(".repeat(100_000), ")".repeat(100_000)));
    check_text(&format!("{}{}", "(".repeat(100_000), ")".repeat(100_000)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        check_text(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text(text in "\\PC{0,40}") {
        check_text(&text);
    }

    #[test]
    fn any_row_of_tokens(text in r#"((f32|u8|b|token|[TLESMPD]|SC|<=|->|/\*|\*/|-?[0-9]{1,20}|[a=%"(){},:?*#\[\]]) ?){0,24}"#) {
        check_text(&text);
    }

    #[test]
    fn mutated_texts(text in mutated()) {
        check_text(&text);
    }
}
