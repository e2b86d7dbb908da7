//! Every error by its fields: where a text goes wrong, and which rule a shape breaks.

use relayout::{
    ArrayShape, DimensionSize, Layout, LayoutError, PaddingValue, ParseError, PrimitiveType, Shape,
    SplitConfig, Tile, TileDimension,
};

fn refused(text: &str) -> ParseError {
    text.parse::<Shape>().expect_err(text)
}

/// (text, offset, a part of `expected`, `found`)
const REFUSED: &[(&str, usize, &str, &str)] = &[
    ("", 0, "an element type", "the end of the text"),
    ("F32[2]", 0, "an element type", "`F32`"),
    ("tuple[]", 0, "an element type", "`tuple`"),
    ("%f32[2]", 0, "an element type", "`%f32`"),
    ("f32", 3, "`[`", "the end of the text"),
    ("f32[2,]", 6, "a dimension size", "`]`"),
    ("f32[2 3]", 6, "`,` or `]`", "`3`"),
    ("f32[-5]", 4, "0 or more", "`-5`"),
    ("f32[2x3]", 4, "a dimension size", "`2x3`"),
    ("f32[1.5]", 4, "a dimension size", "`1.5`"),
    ("f32[9223372036854775808]", 4, "between -2^63 and 2^63 - 1", "`9223372036854775808`"),
    ("f32[<=?]", 6, "a bound", "`?`"),
    ("f32[2]{}", 6, "the end of the text", "`{`"),
    ("f32[2]{0", 8, "`,`, `:` or `}`", "the end of the text"),
    ("f32[2,3]{0}", 8, "one entry for each of 2 dimensions", "1"),
    ("f32[2]{0:S(1)T(2)}", 13, "`}` or one of the notes SC P M", "`T`"),
    ("f32[2]{0:M(1)M(1)}", 13, "`}`", "`M`"),
    ("f32[2]{0:T(2}", 12, "`,` or `)`", "`}`"),
    ("f32[2]{0:T(-4)}", 11, "a tile size", "`-4`"),
    ("f32[2]{0:L(0)}", 11, "1 or more", "`0`"),
    ("f32[2]{0:S(300)}", 11, "-128 to 127", "`300`"),
    ("f32[2]{0:M(-1)}", 11, "0 or more bytes", "`-1`"),
    ("f32[2]{0:#(s32)}", 11, "an unsigned integer type", "`s32`"),
    ("f32[2]{0:D(D)}", 9, "obsolete", "`D`"),
    ("f32[2]{0:P(f32[2])}", 9, "only sparse arrays", "`P`"),
    ("token[4]", 6, "`]`", "`4`"),
    ("token[]{0}", 7, "the end of the text", "`{`"),
    ("b((f32[2]))", 2, "an element type", "`(`"),
    ("(f32[2],)", 8, "an element type", "`)`"),
    ("(f32[2]", 7, "`,` or `)`", "the end of the text"),
    (
        "(u8[], f32[2,2]{1,1})",
        7,
        "a valid element",
        "one where minor_to_major [1, 1] names dimension 1 twice",
    ),
    ("f32[2] /* a", 7, "the end of the text", "a comment that does not end"),
    ("f32[2] // \0", 7, "the end of the text", "a comment with a NUL byte"),
    ("f32[2]\0", 6, "the end of the text", r"`\0`"),
    ("f32[é]", 4, "a dimension size", "`é`"),
];

#[test]
fn parse_errors_name_place_wish_and_finding() {
    for &(text, offset, expected, found) in REFUSED {
        let error = refused(text);
        assert_eq!((error.offset, error.found.as_str()), (offset, found), "{text:?}: {error}");
        assert!(error.expected.contains(expected), "{text:?}: {error}");
    }
}

#[test]
fn long_tokens_are_cut_in_messages() {
    let error = refused(&"x".repeat(100_000));
    assert_eq!(error.found, format!("`{}…`", "x".repeat(40)));
    assert!(error.caret().len() < 200);
}

#[test]
fn carets_stand_under_the_place() {
    let caret = |text: &str| refused(text).caret();
    assert_eq!(caret("f32[2,]"), "f32[2,]\n      ^");
    assert_eq!(caret("f32[2"), "f32[2\n     ^");
    assert_eq!(caret("f32[2  \n\n"), "f32[2  \n     ^", "the end is behind the last token");
    assert_eq!(caret("\tf32[\t2,x]"), "\tf32[\t2,x]\n\t    \t  ^");
    assert_eq!(caret("f32[2,\r\n  3]{x\r\n}"), "  3]{x\n    ^");
    assert_eq!(caret("/* größer */ f32[x]"), "/* größer */ f32[x]\n                 ^");
    assert_eq!(caret("\u{1b}[31m"), "\u{fffd}[31m\n^", "no escape reaches a terminal");
    let long = format!("f32[{}x]", "1,".repeat(500));
    let shown = format!("…{}x]", "1,".repeat(30));
    assert_eq!(caret(&long), format!("{shown}\n{}^", " ".repeat(61)));
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
    let deepest: Shape = nested(Shape::MAX_NESTING).parse().expect("the limit itself is read");
    assert_eq!(deepest.to_string(), nested(Shape::MAX_NESTING));
    for depth in [Shape::MAX_NESTING + 1, 100_000] {
        let error = refused(&nested(depth));
        assert_eq!((error.offset, error.found.as_str()), (Shape::MAX_NESTING, "`(`"));
    }
    // The limit is for depth, not for the number of tuples.
    assert!(format!("({}())", "(),".repeat(1000)).parse::<Shape>().is_ok());
    assert!("b(".repeat(100_000).parse::<Shape>().is_err());
    assert!("f32[1]{0:P(".repeat(100_000).parse::<Shape>().is_err());
    assert!("{0:P(f32[1]".repeat(100_000).parse::<Layout>().is_err());
    assert!(format!("{{0:P({}", "(".repeat(100_000)).parse::<Layout>().is_err());
}

#[test]
fn parts_of_shapes_have_texts() {
    fn same<T: std::str::FromStr<Err = ParseError> + ToString>(text: &str) -> T {
        let part: T = text.parse().expect(text);
        assert_eq!(part.to_string(), text);
        part
    }
    assert_eq!(same::<Tile>("(*,8)"), Tile::new([TileDimension::Combine, 8.into()]));
    assert_eq!(same::<Tile>("()"), Tile::new([]));
    assert_eq!(same::<SplitConfig>("(0:2,5)"), SplitConfig { dimension: 0, indices: vec![2, 5] });
    assert_eq!(same::<SplitConfig>("(1:)"), SplitConfig { dimension: 1, indices: vec![] });
    assert_eq!(same::<DimensionSize>("<=8"), DimensionSize::Bounded(8));
    assert_eq!(same::<DimensionSize>("?"), DimensionSize::Unbounded);
    assert_eq!(same::<Layout>("{}"), Layout::row_major(0));
    let sparse = Layout::row_major(1).with_physical_shape("(f32[4],u8[])".parse().ok());
    assert_eq!(same::<Layout>("{0:P((f32[4]{0}, u8[]))}"), sparse);
    same::<Layout>("{1,0:T(8,128)(2,1)L(7)#(u32)*(u8)E(16)S(-3)SC(0:1)(1:)M(9)}");
    assert_eq!("{ : }".parse::<Layout>(), Ok(Layout::row_major(0)));
    assert_eq!(same::<ArrayShape>("f32[2]{0}"), ArrayShape::new(PrimitiveType::F32, [2]));
    let error = " (f32[2])".parse::<ArrayShape>().unwrap_err();
    assert_eq!(error.to_string(), "at byte 1: expected an array, found a shape of type tuple");
}

#[test]
fn sparse_types_that_have_no_text_print_as_invalid() {
    let layout = |element| Layout::row_major(1).with_index_primitive_type(Some(element)).to_string();
    assert_eq!(layout(PrimitiveType::F32), "{0:#(invalid)}");
    assert_eq!(layout(PrimitiveType::S32), "{0:#(s32)}");
}

fn why(text: &str) -> LayoutError {
    text.parse::<Shape>().expect(text).validate().expect_err(text)
}

#[test]
fn broken_rules_that_texts_can_say() {
    use LayoutError as E;
    let rank = 2;
    let cases = [
        ("f32[2,3]{0,0}", E::DuplicateMinorToMajor { minor_to_major: vec![0, 0], value: 0 }),
        ("f32[2,3]{0,5}", E::MinorToMajorOutOfRange { minor_to_major: vec![0, 5], value: 5, rank }),
        ("f32[2,3]{-1,0}", E::MinorToMajorOutOfRange { minor_to_major: vec![-1, 0], value: -1, rank }),
        ("f32[2]{0:T(2)()}", E::EmptyTile { tile: 1 }),
        ("f32[2]{0:T(4,0)}", E::TileSize { tile: 0, size: 0 }),
        ("f32[2]{0:E(-1)}", E::ElementSizeInBits { bits: -1 }),
        ("f32[2]{0:#(u32)}", E::SparseField { field: "index_primitive_type" }),
        ("f32[2]{0:*(u32)}", E::SparseField { field: "pointer_primitive_type" }),
        ("f32[8,4]{1,0:SC(2:1)}", E::SplitDimension { dimension: 2, rank }),
        ("f32[8,4]{1,0:SC(-1:)}", E::SplitDimension { dimension: -1, rank }),
        ("f32[8,4]{1,0:SC(0:2)(0:5)}", E::SplitDimension { dimension: 0, rank }),
        ("f32[8,4]{1,0:SC(0:8)}", E::SplitIndex { dimension: 0, index: 8, size: 8 }),
        ("f32[8,4]{0,1:SC(0:4)}", E::SplitIndex { dimension: 0, index: 4, size: 4 }),
        ("f32[8,4]{1,0:SC(0:0)}", E::SplitIndex { dimension: 0, index: 0, size: 8 }),
        ("f32[8,4]{1,0:SC(0:5,5)}", E::SplitIndex { dimension: 0, index: 5, size: 8 }),
        ("f32[?]{0:SC(0:1)}", E::UnboundedDimension { dimension: 0 }),
        ("f32[9223372036854775807]", E::Overflow { what: "the size in bytes" }),
        ("f32[4294967296,4294967296]", E::Overflow { what: "the number of elements" }),
        ("f32[9223372036854775807,4,0]", E::Overflow { what: "the number of elements" }),
        ("f32[4294967296,?,<=4294967296]", E::Overflow { what: "the number of elements" }),
        ("b(f32[9223372036854775807])", E::Overflow { what: "the size in bytes" }),
    ];
    for (text, expected) in cases {
        assert_eq!(why(text), expected, "{text}");
    }
}

#[test]
fn shapes_that_are_valid_all_the_same() {
    let valid = [
        "f32[0,9223372036854775807,4]",
        "f32[9223372036854775807,0]",
        "u8[9223372036854775807]",
        "f32[?,4]{0,1:T(8,128)}",
        "f32[?]{0:SC(0:)}",
        "f32[2]{0:T(*)}",
        "f32[]{:T(8,128)(2,1)}",
        "f32[2]{0:T(9223372036854775807)L(9223372036854775807)E(3)S(-128)}",
        "b(u1[4]{0:T(0)})",
        "(b(u1[4]{0:T(0)}), token[], opaque[], ())",
    ];
    for text in valid {
        let shape: Shape = text.parse().expect(text);
        assert_eq!((shape.validate(), shape.validation_errors()), (Ok(()), vec![]), "{text}");
    }
}

#[test]
fn broken_rules_that_only_programs_can_say() {
    use LayoutError as E;
    let array = |layout: Layout| ArrayShape::new(PrimitiveType::F32, [2, 3]).with_layout(layout);
    let row = || Layout::row_major(2);
    let padded = |sizes: &[i64]| row().with_padded_dimensions(sizes.iter().copied(), PaddingValue::Zero);
    let cases = [
        (array(Layout::row_major(1)), E::MinorToMajorLength { entries: 1, rank: 2 }),
        (array(row().with_tiles([Tile::from([-3])])), E::TileSize { tile: 0, size: -3 }),
        (array(row().with_tail_padding_alignment_in_elements(0)), E::TailPaddingAlignment { elements: 0 }),
        (array(row().with_memory_space(300)), E::MemorySpace { space: 300 }),
        (array(row().with_physical_shape(Some(Shape::Token))), E::SparseField { field: "physical_shape" }),
        (array(padded(&[4])), E::PaddedDimensionsLength { entries: 1, rank: 2 }),
        (array(padded(&[2, 1])), E::PaddedDimensionTooSmall { dimension: 1, padded: 1, size: 3 }),
        (array(padded(&[2, 4]).with_tiles([Tile::from([8])])), E::PaddedAndTiled),
        (ArrayShape::new(PrimitiveType::S8, [4, -1]), E::NegativeDimension { dimension: 1, size: -1 }),
        (
            ArrayShape::new(PrimitiveType::S8, [DimensionSize::Bounded(-7)]),
            E::NegativeDimension { dimension: 0, size: -7 },
        ),
        (ArrayShape::new(PrimitiveType::Token, [1]), E::ElementType { element_type: PrimitiveType::Token }),
    ];
    for (shape, expected) in cases {
        assert_eq!(shape.validate(), Err(expected), "{shape}");
    }
    assert_eq!(array(padded(&[2, 5])).validate(), Ok(()));
}

#[test]
fn every_broken_rule_is_listed() {
    use LayoutError as E;
    let layout = Layout::from_minor_to_major([1, 1, 7]).with_element_size_in_bits(-2).with_memory_space(1000);
    let shape = ArrayShape::new(PrimitiveType::F32, [2, 3]).with_layout(layout);
    let minor_to_major = vec![1, 1, 7];
    let expected = vec![
        E::MinorToMajorLength { entries: 3, rank: 2 },
        E::MinorToMajorOutOfRange { minor_to_major: minor_to_major.clone(), value: 7, rank: 2 },
        E::DuplicateMinorToMajor { minor_to_major, value: 1 },
        E::ElementSizeInBits { bits: -2 },
        E::MemorySpace { space: 1000 },
    ];
    assert_eq!(shape.validation_errors(), expected);
    let tuple = Shape::Tuple(vec![shape.clone().into(), Shape::Tuple(vec![shape.into()])]);
    assert_eq!(tuple.validation_errors(), [expected.clone(), expected].concat());
}
