#!/usr/bin/env python3
"""Estimates the cycles per byte that Arm kernels take, by llvm-mca's models of CPUs.

    scripts/arm-cycles.sh                 builds the kernels for Arm, then calls this

Reads the compiler's assembly of manyhash-core on standard input. Of each kernel the loop over blocks is taken, which
llvm-mca simulates alone: data is in the first cache, branches are predicted, lanes are full. A model is no CPU: where one was
measured by others (SHA-256 by instructions on Cortex-A76: CRYPTOGAMS has 1.60), it was 4 % off.
"""

import argparse
import re
import subprocess
import sys

# With the extensions that they have and the models leave open.
CPUS = {
    "neoverse-n1": "+sha2",
    "neoverse-v1": "+sha2,+sha3",
    "neoverse-n2": "+sha2,+sha3",
    "neoverse-v2": "+sha2,+sha3",
    "neoverse-v3": "+sha2,+sha3",
}

# By the beginning of its name: bytes in a block, and how often a loop inside the one over blocks is run, of rounds that are not
# written out.
FAMILIES = {
    "md5::Md5": ("MD5", 64, 0),
    "sha1::Sha1": ("SHA-1", 64, 0),
    "sha256::Sha256": ("SHA-256", 64, 3),
    "sha512::Sha512": ("SHA-512", 128, 4),
    "keccak::Keccak<17: usize, ": ("SHA3-256", 136, 24),
    "sm3::Sm3": ("SM3", 64, 0),
    "ripemd160::Ripemd160": ("RIPEMD-160", 64, 0),
}


def functions(lines):
    """The lines of each function, by its name without hashes."""
    name, body = None, []
    for line in lines:
        if start := re.match(r"(_R\w+)[.\w]*:", line):
            name, body = start[1], []
        elif name and line.startswith(".Lfunc_end"):
            yield name, body
            name = None
        elif name:
            body.append(line.rstrip())


def demangle(names):
    output = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return [re.sub(r"\[[0-9a-f]+\]", "", line) for line in output.splitlines()]


def is_instruction(line):
    return bool(re.match(r"\t[a-z]", line))


def loops(body):
    """Each loop as the lines from its label to its branch back, the longest first."""
    labels = {line.rstrip(":"): i for i, line in enumerate(body) if line.startswith(".LBB")}
    found = set()
    for i, line in enumerate(body):
        if branch := re.match(r"\t(?:b|b\.\w+|cbn?z|tbn?z)\t(?:.*, )?(\.LBB\w+)$", line):
            if labels.get(branch[1], i) < i:
                found.add((labels[branch[1]], i))
    # A label with several branches back is one loop.
    ends = {}
    for start, end in found:
        ends[start] = max(ends.get(start, 0), end)
    return sorted(ends.items(), key=lambda loop: loop[0] - loop[1])


def unrolled(body, trips, innermost):
    """The instructions of a turn of the loop over blocks, branches left out. Where all is written out it is the innermost."""
    found = loops(body)
    if not found:
        return None
    if innermost:
        found = [(a, b) for a, b in found if not any(a <= c and d <= b for c, d in found if (c, d) != (a, b))]
    start, end = found[0]
    inner = [(a, b) for a, b in found[1:] if start < a and b < end]
    instructions, i = [], start
    while i <= end:
        for a, b in inner:
            if i == a:
                if trips == 0:
                    return None
                turn = [line for line in body[a : b + 1] if is_instruction(line)]
                instructions += turn * (trips - 1)
        if is_instruction(body[i]):
            instructions.append(body[i])
        i += 1
    return [line for line in instructions if not re.match(r"\t(?:b|b\.\w+|cbn?z|tbn?z|bl)\t", line)]


def cycles(mca, cpu, instructions):
    """Of one turn; nothing where the CPU lacks an instruction."""
    turns = 20
    command = [mca, "-mtriple=aarch64-linux-gnu", f"-mcpu={cpu}", f"-iterations={turns}", "-instruction-info=false",
               "-resource-pressure=false", f"-mattr={CPUS[cpu]}"]
    done = subprocess.run(command, input="\n".join(instructions) + "\n", capture_output=True, text=True)
    if "instruction requires" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(f"llvm-mca: {done.stderr}")
    return int(re.search(r"Total Cycles:\s+(\d+)", done.stdout)[1]) / turns


def lanes(vector):
    bits = re.search(r"Q<u(\d+)", vector)
    return 128 // int(bits[1]) * 2 ** vector.count("Pair<")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--llvm-mca", default="llvm-mca")
    options = parser.parse_args()

    found = list(functions(sys.stdin))
    rows = []
    for (_, body), name in zip(found, demangle([name for name, _ in found])):
        for family, (title, block, trips) in FAMILIES.items():
            if kernel := re.search(r"algorithm::(?:\w+::)?arm_sha::kernels::run::<.*" + re.escape(family) + r".*, (\d)", name):
                streams, kind = int(kernel[1]), "arm-sha"
            elif kernel := re.search(r"<manyhash_core::(tier::(?:neon|sve2)|algorithm::keccak::arm_sha)::Vectors as .*>::run::<manyhash_core::algorithm::" + re.escape(family) + r".*?, (manyhash_core::.*)>$", name):
                streams, kind = lanes(kernel[2]), kernel[1].split("::")[-1].replace("arm_sha", "arm-sha")
            else:
                continue
            instructions = unrolled(body, trips, kind == "arm-sha" and title != "SHA3-256")
            if instructions is None:
                sys.exit(f"{name}: no loop over blocks was found")
            figures = [cycles(options.llvm_mca, cpu, instructions) for cpu in CPUS]
            per_byte = ["-" if figure is None else f"{figure / block / streams:.2f}" for figure in figures]
            rows.append((list(FAMILIES).index(family), kind, streams, title, len(instructions), per_byte))
    if not rows:
        sys.exit("no kernel was found: is this the assembly of manyhash-core, with v0 names?")

    print(f"{'':12}{'kernel':10}{'messages':>9}{'instructions':>14}" + "".join(f"{cpu:>13}" for cpu in CPUS))
    for _, kind, streams, title, count, per_byte in sorted(rows):
        print(f"{title:12}{kind:10}{streams:>9}{count:>14}" + "".join(f"{figure:>13}" for figure in per_byte))


main()
