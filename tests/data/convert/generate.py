"""Writes the conversion vectors: what numpy and ml_dtypes make of every input, or of many, of each pair of types.

Run from this folder with numpy and ml_dtypes installed; see README.md for the form of the files.
"""

import warnings

import ml_dtypes
import numpy as np

warnings.filterwarnings("ignore")

FLOATS = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3": ml_dtypes.float8_e4m3, "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f6e3m2fn": ml_dtypes.float6_e3m2fn, "f6e2m3fn": ml_dtypes.float6_e2m3fn,
}
# Formats whose NaNs carry a payload: mantissa bits, exponent bits.
PAYLOADS = {"f64": (52, 11), "f32": (23, 8), "f16": (10, 5), "bf16": (7, 8)}
INTEGERS = {f"{sign}{bits}": (sign == "s", bits) for bits in (1, 2, 4, 8, 16, 32, 64) for sign in "su"}
# Types whose every value is an input; of the others the samples are.
NARROW = {"f4e2m1fn": 4, "f6e3m2fn": 6, "f6e2m3fn": 6, "pred": 1} | {
    name: 8 for name in FLOATS if name.startswith("f8")
} | {"f16": 16, "bf16": 16} | {name: bits for name, (_, bits) in INTEGERS.items() if bits <= 16}
TYPES = list(FLOATS) + list(INTEGERS) + ["pred"]


def width(name):
    if name in FLOATS:
        return NARROW.get(name, np.dtype(FLOATS[name]).itemsize * 8)
    return 1 if name == "pred" else INTEGERS[name][1]


def unsigned(name):
    return np.dtype(f"u{max(1, width(name) // 8)}")


def to_bits(values, name):
    try:
        cast = values.astype(FLOATS[name])
    except TypeError:  # no cast of their own: by way of f32, which holds all values of narrow floats
        cast = values.astype(np.float32).astype(FLOATS[name])
    return cast.view(unsigned(name)).astype(np.uint64)


def samples(name):
    """Inputs of a wide type: edges of every format, what lies beside them, and numbers of every size."""
    random = np.random.default_rng(20251)
    if name in INTEGERS:
        signed, bits = INTEGERS[name]
        edges = [s * 2**p + d for p in range(bits + 1) for s in (1, -1) for d in (-2, -1, 0, 1, 2)]
        edges += [s * (2**p + 2**(p - 8) + d) for p in range(24, bits) for s in (1, -1) for d in (-1, 0, 1)]
        drawn = [int(v) >> int(s) for v, s in zip(random.integers(-2**63, 2**63, 300), random.integers(0, 63, 300))]
        low, high = (-2**(bits - 1), 2**(bits - 1)) if signed else (0, 2**bits)
        values = sorted({v for v in edges + drawn if low <= v < high})
        return np.array([v & (2**bits - 1) for v in values], np.uint64)
    values = []
    for other in (other for other in NARROW if other in FLOATS):
        step = {16: 97, 8: 1}.get(width(other), 1)
        codes = np.arange(0, 2 ** width(other), step, dtype=unsigned(other))
        exact = np.unique(codes.view(FLOATS[other]).astype(np.float64))
        exact = exact[np.isfinite(exact)]
        ties = (exact[1:] + exact[:-1]) / 2
        values += [exact, ties] if step == 1 else [exact]
    values += [np.arange(-300.0, 300.0, 0.75), np.ldexp(random.random(400), random.integers(-160, 135, 400))]
    values = [np.concatenate(values)]
    values += [2.0**p * np.array([1, -1, 0.75, 1.75]) for p in range(-152, 130)]
    values = np.unique(np.concatenate(values))
    if name == "f64":
        powers = [2.0**p for p in range(-1074, 1024, 41)]
        beside = [np.nextafter(values[::5], np.inf), np.nextafter(values[2::5], -np.inf), values[3::5] * (1 + 2**-30)]
        values = np.unique(np.concatenate([values[1::5], *beside, powers]))
    else:
        narrow = values.astype(np.float32)
        beside = [np.nextafter(narrow[::4], np.float32(np.inf)), np.nextafter(narrow[2::4], np.float32(-np.inf))]
        values = np.unique(np.concatenate([narrow[1::2], *beside]))
    bits = [to_bits(values, name)]
    mantissa, exponent = PAYLOADS[name]
    top = ((1 << exponent) - 1) << mantissa
    payloads = [0, 1, 1 << (mantissa - 1), (1 << mantissa) - 1, 5 << (mantissa - 4), 1 << (mantissa - 8)]
    special = [0, *(top | payload for payload in payloads)]
    special += [s | 1 << (mantissa + exponent) for s in special]
    return np.unique(np.concatenate([*bits, np.array(special, np.uint64)]))


def inputs(name):
    return np.arange(2 ** NARROW[name], dtype=np.uint64) if name in NARROW else samples(name)


def nan_bits(bits, source, target):
    """Quiet, with sign and as much of the payload as there is room for."""
    (from_mantissa, from_exponent), (mantissa, exponent) = PAYLOADS[source], PAYLOADS[target]
    payload = [int(b) & ((1 << from_mantissa) - 1) for b in bits]
    moved = [p << 64 - from_mantissa >> 64 - mantissa for p in payload]
    sign = [int(b) >> (from_mantissa + from_exponent) << (mantissa + exponent) for b in bits]
    quiet = ((1 << exponent + 1) - 1) << (mantissa - 1)
    return np.array([s | quiet | m for s, m in zip(sign, moved)], np.uint64)


def integers(bits, name):
    """Integers of any type as Python's own."""
    if name == "pred":
        return [int(b != 0) for b in bits]
    signed, count = INTEGERS[name]
    return [int(b) - (1 << count) if signed and int(b) >> (count - 1) else int(b) for b in bits]


def from_float(bits, source, target, rounded=np.trunc):
    values = bits.astype(unsigned(source)).view(FLOATS[source])
    exact = values.astype(np.float64)
    if target == "pred":
        return values.astype(bool).astype(np.uint64)
    if target in INTEGERS:
        signed, count = INTEGERS[target]
        low, high = (-2**(count - 1), 2**(count - 1) - 1) if signed else (0, 2**count - 1)
        # Inside the range as numpy has it; outside the nearest integer, and 0 for NaN.
        whole = [0 if v != v else low if v < low else high if v > high else int(v) for v in rounded(exact).tolist()]
        return np.array([w & ((1 << count) - 1) for w in whole], np.uint64)
    result = to_bits(values, target)
    if source in PAYLOADS and target in PAYLOADS:
        nan = np.isnan(exact)
        result[nan] = nan_bits(bits[nan], source, target)
    return result


def from_integer(bits, source, target):
    values = integers(bits, source)
    if target == "pred":
        return np.array([int(v != 0) for v in values], np.uint64)
    if target in INTEGERS:
        return np.array([v & ((1 << INTEGERS[target][1]) - 1) for v in values], np.uint64)
    array = np.array(values, bool if source == "pred" else np.uint64 if source == "u64" else np.int64)
    return to_bits(array, target)


def fnv(data):
    state = 0x811C9DC5
    for byte in data:
        state = (state ^ byte) * 0x01000193 & 0xFFFFFFFF
    return state


def encode(result, name):
    """The shorter of all values and of runs; where both are long, hashes of groups."""
    digits = -(-width(name) // 4)
    starts = np.flatnonzero(np.concatenate([[True], result[1:] != result[:-1]]))
    lengths = np.diff(np.concatenate([starts, [len(result)]]))
    runs = "runs " + " ".join(f"{int(result[s]):x}*{n:x}" for s, n in zip(starts, lengths))
    values = "values " + "".join(f"{int(r):0{digits}x}" for r in result)
    group = 1024 if len(result) == 65536 else 16 if len(result) <= 256 else 8
    data = result.astype("<u8").tobytes()
    hashes = f"hashes{group} " + "".join(
        f"{fnv(data[at:at + 8 * group]):08x}" for at in range(0, len(data), 8 * group)
    )
    shorter = min(runs, values, key=len)
    return shorter if len(shorter) <= 24000 and width(name) <= 16 else min(shorter, hashes, key=len)


def main():
    with open("vectors.txt", "w") as out:
        for name in TYPES:
            if name not in NARROW:
                bits = inputs(name)
                digits = width(name) // 4
                print(f"{name} inputs values " + "".join(f"{int(b):0{digits}x}" for b in bits), file=out)
        for source in TYPES:
            bits = inputs(source)
            for target in TYPES:
                if target != source:
                    convert = from_float if source in FLOATS else from_integer
                    print(f"{source} {target} {encode(convert(bits, source, target), target)}", file=out)
    with open("nearest.txt", "w") as out:
        for source in FLOATS:
            bits = inputs(source)
            for target in INTEGERS:
                result = encode(from_float(bits, source, target, np.rint), target)
                print(f"{source} {target} {result}", file=out)


main()
