#!/usr/bin/env python3
"""A decision by a type of samples or values is a switch without a default, so that a new type does not compile until
each decision handles it.

    switches.py            exit 1 and a line for each decision made in another way
    switches.py --check    tests itself on such decisions

Standard library only.
"""
import re
import sys

from includes import PRODUCT, sources

ELEMENT = r"(const )?(Sample8|Sample16|std::uint8_t|std::uint16_t|float)"
# (pattern, what to do instead)
FORBIDDEN = [
    (r"[!=]= ?Sample::|Sample::\w+ ?[!=]=", "use a function of images/sample.h"),
    (r"[!=]= ?ValueKind::|ValueKind::\w+ ?[!=]=", "use a function of kernels/stage.h or pipeline/graph.h"),
    (r"sizeof\((T|To|From)\) ?([!=<>]=|[<>]) ?(\d|sizeof)", "use kIsWide<T>: other types may have this size"),
    (rf"is_same_v<(T|To|From), {ELEMENT}>", "use kIsWide<T>, or a concept"),
]
TYPE = r"case (Sample|Backend|ValueKind)::"
# A switch, up to its closing brace at clang-format's position.
SWITCH = re.compile(r"^( *)switch \(.*?^\1}", re.DOTALL | re.MULTILINE)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def complaints(path, text):
    for pattern, instead in FORBIDDEN:
        for found in re.finditer(pattern, text):
            yield f"{path}:{line_of(text, found.start())}: {found[0]}: {instead}"
    for switch in SWITCH.finditer(text):
        if re.search(TYPE, switch[0]) and (default := re.search(r"\bdefault:", switch[0])):
            line = line_of(text, switch.start() + default.start())
            yield f"{path}:{line}: default: list every type, and end in unreachable()"


def self_test():
    def wrong(text, line):
        found = list(complaints("a.cpp", text))
        assert len(found) == 1 and found[0].startswith(f"a.cpp:{line}: "), (text, found)

    right = "  switch (sample) {\n    case Sample::u8:\n      return 1;\n  }\n  unreachable();\n"
    other = "  switch (format) {\n    case Format::png:\n      return 1;\n    default:\n      return 2;\n  }\n"
    for text in (right, other, right + other, "Sample sample = Sample::u8;", "if (a.sample == b.sample)",
                 "FixedTag<T, 16 / sizeof(T)> d;", "x ? Sample::u16 : Sample::u8", "std::is_same_v<To, From>"):
        assert not list(complaints("a.cpp", text)), text
    wrong("\nreturn shape.sample == Sample::u16 ? 2 : 1;", 2)
    wrong("if (shape.sample != Sample::u8) return;", 1)
    wrong("if (Sample::u8 == shape.sample) return;", 1)
    wrong("if (ValueKind::counts == value.kind) return;", 1)
    wrong("if constexpr (sizeof(T) == 1) {", 1)
    wrong("a ? b : c;\nif constexpr (sizeof(To) > sizeof(From)) {", 2)
    wrong("std::conditional_t<std::is_same_v<T, Sample8>, int, long>", 1)
    wrong(right.replace("  }", "    default:\n      return 2;\n  }"), 4)
    wrong(other + right.replace("Sample::u8", "Backend::cpu").replace("  }", "    default:\n      return 2;\n  }"), 10)


def main():
    if sys.argv[1:] == ["--check"]:
        return self_test()
    if sys.argv[1:]:
        sys.exit(__doc__)
    found = [one for path, text in sources().items() if path.startswith(tuple(f"{name}/" for name in PRODUCT))
             for one in complaints(path, text)]
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    if found:
        sys.exit(f"switches: {len(found)} questions are open to a new type")
    print("switches: every question about a type lists the types")


if __name__ == "__main__":
    main()
