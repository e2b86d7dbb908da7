//! Instruction lines of real programs, and what is refused.

use relayout::ParseError;
use relayout::hlo::Instruction;

fn read(line: &str) -> Instruction {
    line.parse().unwrap_or_else(|error: ParseError| panic!("{error}\n{}", error.caret()))
}

/// Lines in canonical form, so that they print as themselves.
const LINES: &[&str] = &[
    "add.936 = bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)} add(exponential.183, broadcast.3115)",
    "%fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)} fusion(bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} \
     %fusion.32), kind=kCustom, calls=%all-reduce-scatter.3",
    "ROOT tuple.1 = (f32[2]{0}, token[]) tuple(a, b), sharding={{devices=[2]0,1}, {replicated}}",
    "c = f32[] constant(3.5)",
    "c = s32[2]{0} constant({1, 2})",
    "c = (f32[2]{0}, pred[]) constant(({1, -2.5}, true))",
    "c = c64[] constant((1, 2))",
    "big = f32[4096]{0} constant({...})",
    "Arg_0.1 = f32[2,3]{1,0} parameter(0), parameter_replication={false}",
    "%0 = f32[2]{0} negate(f32[2]{0} %1)",
    "iota.3 = s32[4]{0} iota(), iota_dimension=0",
    "gte = f32[] get-tuple-element(t), index=1",
    "conv = f32[1,8,8,16]{3,2,1,0} convolution(x, w), window={size=3x3 pad=1_1x1_1}, \
     dim_labels=b01f_01io->b01f",
    "ar = f32[8]{0} all-reduce(x), replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true",
    "cc = b(f32[8]{0}) custom-call(b(f32[8]{0}) x, (f32[], ()) y), custom_call_target=\"f,\\\"(\", \
     backend_config={\"a\":[{\"b\":\"}\"}]}",
    "m = f32[] add(a, b), metadata={op_name=\"jit(f)/a, b\" source_file=\"/x/größe.py\" source_line=3}",
];

#[test]
fn lines_print_as_themselves() {
    for line in LINES {
        let instruction = read(line);
        assert_eq!(instruction.to_string(), *line);
        assert_eq!(read(&instruction.to_string()), instruction);
    }
}

#[test]
fn parts_are_at_hand() {
    let fusion = read(LINES[1]);
    assert_eq!((fusion.name.as_str(), fusion.opcode.as_str()), ("fusion.3", "fusion"));
    assert_eq!((fusion.is_root, fusion.percent, fusion.literal.as_deref()), (false, true, None));
    assert_eq!(fusion.shape.to_string(), "bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}");
    assert_eq!(fusion.operands[0].name, "fusion.32");
    let operand = fusion.operands[0].shape.as_ref().map(ToString::to_string);
    assert_eq!(operand.as_deref(), Some("bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)}"));
    assert_eq!(fusion.attribute("calls"), Some("%all-reduce-scatter.3"));
    assert_eq!(fusion.attribute("called"), None);

    let add = read(LINES[0]);
    let names: Vec<_> = add.operands.iter().map(|operand| (operand.name.as_str(), &operand.shape)).collect();
    assert_eq!(names, [("exponential.183", &None), ("broadcast.3115", &None)]);
    assert!(add.attributes.is_empty());

    assert!(read(LINES[2]).is_root);
    assert_eq!(read(LINES[5]).literal.as_deref(), Some("({1, -2.5}, true)"));
    assert_eq!(read(LINES[8]).literal.as_deref(), Some("0"));
    assert_eq!(read(LINES[8]).operands, []);
    assert_eq!(read(LINES[14]).attribute("custom_call_target"), Some("\"f,\\\"(\""));
}

#[test]
fn blanks_and_comments_are_narrowed_outside_strings() {
    let line = "  ROOT t=(f32[2], /*index=1*/ f32[])\ttuple ( %a , /*index=1*/b ) ,\n  x = { a /* } */,\n b=\"c  //\" } \
                // end\n";
    assert_eq!(read(line).to_string(), "ROOT %t = (f32[2]{0}, f32[]) tuple(%a, %b), x={ a , b=\"c  //\" }");
    let instruction = read("p = f32[] parameter( 007 ), a=b // c, d=e\n, f=g");
    assert_eq!(instruction.to_string(), "p = f32[] parameter(7), a=b, f=g");
    let operands = read("a = f32[] add(b, b (f32[]) c)").operands;
    assert_eq!(operands.iter().filter(|operand| operand.shape.is_some()).count(), 1);
}

#[test]
fn refusals_name_the_place() {
    let cases = [
        ("", 0, "the name of an instruction", "the end of the text"),
        ("ROOT", 4, "the name of an instruction", "the end of the text"),
        ("a", 1, "`=`", "the end of the text"),
        ("a = add(b)", 4, "an element type", "`add`"),
        ("a = f32[2] = add(b)", 11, "an opcode", "`=`"),
        ("a = f32[2]{0:T(8} add(b)", 16, "`,` or `)`", "`}`"),
        ("a = f32[] add(b", 15, "`,` or `)`", "the end of the text"),
        ("a = f32[] add(f32[])", 19, "the name of an operand", "`)`"),
        ("a = f32[] add(1)", 14, "the name of an operand", "`1`"),
        ("a = f32[] constant()", 19, "a literal", "`)`"),
        ("a = f32[] constant({1)", 21, "a literal", "`)` without its opening bracket"),
        ("a = f32[] constant((1)", 22, "`)`", "the end of the text"),
        ("a = f32[] parameter(x)", 20, "the number of a parameter", "`x`"),
        ("a = f32[] add(b) c", 17, "`,` or the end of the text", "`c`"),
        ("a = f32[] add(b), c", 19, "`=`", "the end of the text"),
        ("a = f32[] add(b), c=", 20, "the value of an attribute", "the end of the text"),
        ("a = f32[] add(b), c=, d=e", 20, "the value of an attribute", "`,`"),
        ("a = f32[] add(b), c={(}", 22, "the value of an attribute", "`}` without its opening bracket"),
        ("a = f32[] add(b), c=\"d\\\"", 20, "a string that ends", "one that does not"),
        ("a = f32[] add(b), c=d /* e", 22, "a comment that ends", "one that does not"),
        ("a = f32[] add(b), c=d\0", 21, "printable text", r"`\0`"),
        ("a = f32[] add(b), c=d, c=e", 23, "every attribute once", "`c` again"),
    ];
    for (line, offset, expected, found) in cases {
        let error = line.parse::<Instruction>().expect_err(line);
        assert_eq!(
            (error.offset, error.expected.as_str(), error.found.as_str()),
            (offset, expected, found),
            "{line}"
        );
    }
}
