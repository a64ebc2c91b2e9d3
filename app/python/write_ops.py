"""Writes imgpipe/ops.py, a function for each stage, from the table of stages: write_ops.py DIRECTORY_OF_THE_MODULE"""
import pathlib
import sys
import textwrap

HEAD = '''"""Stages as functions: Pipeline([ops.resize(224, 224, "bicubic"), ops.normalize("imagenet")]).

The parameters are those of the command line, in the same order. Made from the table of stages.
"""
from collections.abc import Sequence
from typing import Literal

from ._stages import Op, color_text, op

__all__ = [{names}]

Color = str | Sequence[int]  # a CSS name, "#rrggbb", "#rrggbbaa", or integers (R, G, B) or (R, G, B, A)
'''


def literal(words):
    """The type of words; numbers among them are also accepted as int."""
    values = [repr(word) for word in words] + [word for word in words if word.isdigit()]
    return f"Literal[{', '.join(values)}]"


def type_text(kind):
    base = {"int": "int", "float": "float", "color": "Color", "image": "str",
            "operand": "float | str"}.get(kind["kind"])
    types = [base] if base else []
    if kind["values"] > 1:
        types.append(f"Sequence[{base or literal(kind['words'])}]")
    if kind["words"]:
        types.append(literal(kind["words"]))
    return " | ".join(types)


def default_text(parameter, kind):
    preset = parameter["preset"]
    if preset in kind["words"] or kind["kind"] == "color":
        return repr(preset)
    return preset


def call_text(head, arguments, end):
    """Python code with as many arguments on a line as fit."""
    lines = [head]
    for i, argument in enumerate(arguments):
        text = argument + (", " if i + 1 < len(arguments) else end)
        if len(lines[-1]) + len(text.rstrip()) > 120:
            lines.append(" " * len(head))
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines) + ("" if arguments else end)


def function_text(name, stage, kinds):
    # Parameters that continue a list have no name of their own here.
    rows = [(row, kind) for row, kind in zip(stage["parameters"], kinds) if kind["values"]]
    arguments, documents, values = [], [], []
    for row, kind in rows:
        default = "" if row["required"] else " = " + default_text(row, kind)
        arguments.append(f"{row['name']}: {type_text(kind)}{default}")
        count = f" Up to {kind['values']} values." if kind["values"] > 1 else ""
        text = f"{row['name']}: {row['help']}.{count} Allowed: {row['allowed']}."
        documents += textwrap.wrap(text, 112, initial_indent="    ", subsequent_indent="        ",
                                   break_on_hyphens=False)
        values.append(f"{row['name']}={'color_text(%s)' % row['name'] if kind['kind'] == 'color' else row['name']}")
    summary = stage["summary"][0].upper() + stage["summary"][1:] + "."
    document = [f'    """{summary}', "", *documents, '    """'] if rows else [f'    """{summary}"""']
    signature = call_text(f"def {name}(", arguments, ") -> Op:")
    call = call_text("    return op(", [repr(name), *values], ")")
    return "\n".join(["", "", signature, *document, call, ""])


def main(directory):
    sys.path.insert(0, str(directory))
    import _core  # pylint: disable=import-error,import-outside-toplevel
    stages, kinds = _core.stages(), _core.types_of_parameters()
    names = ", ".join(repr(name) for name in ["Color", *stages])
    text = HEAD.replace("{names}", "\n           ".join(textwrap.wrap(names, 105)))
    text += "".join(function_text(name, stage, kinds[name]) for name, stage in stages.items())
    (directory / "ops.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
