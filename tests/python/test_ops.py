"""imgpipe.ops: every function against the table of stages and the text of the command line."""
import inspect
import pickle
import random
import re
import typing

import imgpipe
import numpy as np
import pytest
from imgpipe import Op, Pipeline, ops
from imgpipe import _core

STAGES = imgpipe.stages()
TYPES = _core.types_of_parameters()


def parameters_of(name):
    """The function's parameters: those of the stage that continue no list."""
    return [(row, kind) for row, kind in zip(STAGES[name]["parameters"], TYPES[name]) if kind["values"]]


def number_in(rng, allowed):
    """A number of a range such as "0.01 to 100 with at most 6 decimals", and its text."""
    least, most = re.match(r"(-?[\d.]+) to ([\d.]+)", allowed).groups()
    if "decimals" not in allowed:
        return rng.randint(int(least), min(int(most), int(least) + 300))
    return rng.choice([float(least), float(most), round(rng.uniform(float(least), float(most)), rng.randint(0, 6)),
                       int(float(most))])


def random_value(rng, row, kind):
    """A value for the function and its text on the command line."""
    if kind["words"] and (kind["kind"] == "choice" or rng.random() < 0.3):
        word = rng.choice(kind["words"])
        return rng.choice([word, int(word)]) if word.isdigit() else word, word
    if kind["kind"] == "image" or kind["kind"] == "operand" and rng.random() < 0.3:
        return ("missing.png", "missing.png")
    if kind["kind"] == "color":
        color = tuple(rng.randrange(256) for _ in range(rng.choice([3, 4])))
        text = "#" + bytes(color).hex()
        return rng.choice([(color, text), (list(color), text), (text, text), ("rebeccapurple", "rebeccapurple")])
    if row["allowed"].startswith("a number"):
        value = rng.choice([rng.uniform(0.01, 1), 0.5, 1, 3e-7, np.float32(0.25)])
    else:
        value = number_in(rng, row["allowed"])
        if "decimals" not in row["allowed"]:
            value = rng.choice([value, np.int64(value), np.uint16(max(0, min(value, 65535)))])
    return value, np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def test_every_stage_has_its_function():
    assert [name for name in ops.__all__ if name != "Color"] == list(STAGES)
    for name, stage in STAGES.items():
        function = getattr(ops, name)
        signature = inspect.signature(function)
        assert signature.return_annotation is Op
        assert list(signature.parameters) == [row["name"] for row, _ in parameters_of(name)]
        assert stage["summary"].lower() in function.__doc__.lower()
        for row, kind in parameters_of(name):
            parameter = signature.parameters[row["name"]]
            assert (parameter.default is parameter.empty) == row["required"], (name, row)
            assert parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            documented = " ".join(function.__doc__.split())
            assert f"{row['name']}: {row['help']}." in documented and row["allowed"] in documented, (name, row)
            if kind["kind"] == "choice":
                words = {str(word) for word in typing.get_args(parameter.annotation)}
                assert words == set(kind["words"]), (name, row)


def test_text_of_every_op():
    rng = random.Random(8)
    valid = dict.fromkeys(STAGES, 0)
    for name in STAGES:
        for _ in range(40):
            arguments, text = {}, name
            for row, kind in parameters_of(name):
                if not row["required"] and rng.random() < 0.5:
                    continue
                count = rng.randint(1, kind["values"])
                pairs = [random_value(rng, row, kind) for _ in range(count)]
                values = [value for value, _ in pairs]
                arguments[row["name"]] = values[0] if count == 1 else rng.choice([list, tuple])(values)
                text += f":{row['name']}={'/'.join(word for _, word in pairs)}"
            try:
                step = str(getattr(ops, name)(**arguments))
            except ValueError as error:  # values that are invalid together
                with pytest.raises(ValueError) as raised:
                    Pipeline(text)
                assert str(raised.value).replace("stages: ", "") == str(error).replace("stages: ", ""), text
                continue
            valid[name] += 1
            # Equal steps have equal labels.
            array = np.zeros((3, 3, 3), np.uint8)
            outcomes = []
            for stages in (step, text):
                try:
                    outcomes.append(Pipeline(stages).run(array)[1]["steps"])
                except (ValueError, TypeError) as error:
                    outcomes.append(str(error))
            assert outcomes[0] == outcomes[1], (arguments, text, step)
            # By position.
            if list(arguments) == [row["name"] for row, _ in parameters_of(name)][:len(arguments)]:
                assert str(getattr(ops, name)(*arguments.values())) == step
    assert all(valid.values()), valid


def test_types_of_numpy():
    for dtype in (np.float16, np.dtype(np.float16), np.float32):
        assert str(ops.normalize("clip", dtype=dtype)) == str(ops.normalize("clip", dtype=np.dtype(dtype).name))
    with pytest.raises(ValueError, match="dtype"):
        ops.normalize("clip", dtype=np.uint8)


def test_an_op_is_a_value():
    step = ops.resize(224, 224, "bicubic")
    assert str(step) == "resize:224:224:bicubic" and repr(step) == "Op(text='resize:224:224:bicubic')"
    same = ops.resize(width=224, height=224, method="bicubic")
    assert step == same and hash(step) == hash(same)
    assert pickle.loads(pickle.dumps(step)) == step
    assert str(ops.normalize(mean=(0.5, 0.25, 0.125), std=[0.5] * 3)) == "normalize:mean=0.5/0.25/0.125:std=0.5"
    assert Pipeline([step, "gray", ops.flip()]).stages == "resize:224:224:bicubic,gray,flip"
    assert Pipeline(step).stages == str(step) and Pipeline([]).stages == "none"
    assert Pipeline(iter([ops.gray()])).stages == "gray"


def test_wrong_values():
    for call, error, text in [(lambda: ops.resize(width=-1), ValueError, "^resize: width: expected 0 to 1000000"),
                              (lambda: ops.resize(2.5), ValueError, "resize: width: "),
                              (lambda: ops.resize(method="cubic"), ValueError, "resize: method: "),
                              (lambda: ops.resize(None), TypeError, "width: expected a number or str, got NoneType"),
                              (lambda: ops.resize(True), TypeError, "got bool"),
                              (lambda: ops.resize([1, 2]), ValueError, "width: expected 1 to 1 values, got 2"),
                              (lambda: ops.gamma(), TypeError, "missing 1 required positional argument: 'gamma'"),
                              (lambda: ops.gamma(float("nan")), ValueError, "gamma: gamma: "),
                              (lambda: ops.gamma(1e-7), ValueError, "gamma: gamma: .*got '0.0000001'"),
                              (lambda: ops.gauss("2:reflect"), ValueError, "gauss: sigma: "),
                              (lambda: ops.gauss("2,gray"), ValueError, "gauss: sigma: "),
                              (lambda: ops.contrast(clip=[1, 2, 3]), ValueError, "clip: expected 1 to 2 values"),
                              (lambda: ops.pad(9, 9, (1, 2)), ValueError, "color: expected"),
                              (lambda: ops.pad(9, 9, (1, 2, 256)), ValueError, "color: expected"),
                              (lambda: ops.normalize(), ValueError, "normalize"),
                              (lambda: ops.resize(blur=3), TypeError, "blur")]:
        with pytest.raises(error, match=text) as raised:
            call()
        assert "\n" not in str(raised.value)
