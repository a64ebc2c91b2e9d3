"""The parts of a run that are compared, and the intended differences."""
import csv
import io
import json
import re

# Report keys whose values are measured or depend on the machine's state.
MEASURED = {"copy_bandwidth_gb_per_s", "gb_per_s", "copy_bandwidth_share", "speed_up", "image_ms", "images_per_s",
            "megapixels_per_s", "busy_s", "share", "bottleneck", "wall_s", "memory_bytes", "peak_admitted_bytes",
            "date"}
VERSIONS = {"version", "commit", "compiler", "build_type", "cuda", "libraries"}
COLUMNS = {"time_ms", "gb_per_s", "copy_bandwidth_share", "reference_ms", "speed_up"}  # of report.csv
TEXT = [
    (r"copy bandwidth [\d.]+ GB/s", "copy bandwidth # GB/s"),
    (r"(failed(?:, \d+ not done)?, in )[\d.]+ s(?:: .*)?$", r"\1#"),
    (r"^per image: .*\n", ""),
    (r"^( (?:read|decode|upload|kernels|download|encode|write) +.*?) +[\d.]+ +[\d.]+%$", r"\1 #"),
    (r"^ bottleneck: .*\n", ""),
    # The first of several concurrent images to arrive is named.
    (r", for example \S+(?: \(.*\)$)?", ", for example #"),
    (r"^imgpipe: warning: \S+( its \d+-bit samples become .* further images)", r"imgpipe: warning: #\1"),
]

# A stage with its non-default parameters, as NEW may name a step that OLD names only by its stage: smooth#2:gauss.
LABEL = re.compile(r"(?<![a-z])((?:gray|hist|contrast|smooth)(?:#\d+)?)(?::[a-z0-9_.=%-]+)+")


def sorted_warnings(text):
    def in_order(match):
        lines = sorted(line.strip(" ,") for line in match.group(2).split("\n"))
        return match.group(1) + "\n".join(lines) + match.group(3)
    return re.sub(r'("warnings": \[\n)(.*?)(\n *\])', in_order, text, flags=re.DOTALL)


def without_parameters(text):
    """JSON without changed options: the clip used to be two numbers, and steps were not listed."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    options = value.get("options", value) if isinstance(value, dict) else {}
    for key in ("clip_low_percent", "clip_high_percent", "clip", "steps"):
        options.pop(key, None)
    return json.dumps(value, indent=1)


def without_fused_bytes(text):
    text = re.sub(r"^((?:gray\+hist|contrast\+smooth)\S* \S+) [\d.]+ ", r"\1 # ", text, flags=re.MULTILINE)
    text = re.sub(r"^((?:gray\+hist|contrast\+smooth)\S*,kernel,\S*?,)\d+", r"\1#", text, flags=re.MULTILINE)
    return re.sub(r'("name": "(?:gray\+hist|contrast\+smooth)\S*",\s*"kind": "kernel",\s*"bytes": )\d+', r"\1#", text)


def without_tensor(text):
    lines = [line.rstrip(",") for line in text.split("\n")]
    added = re.compile(r' *"(?:tensor": null|accept": "(?:strict|lenient)")')
    return "\n".join(line for line in lines if not added.fullmatch(line))


# Intended differences: (name, reason, parts of a run, the function that makes both texts equal). No others may occur.
RULES = [
    ("command", "reports hold the command line", r"file .*\.json",
     lambda text: re.sub(r'^ *"command": ".*",\n', "", text, flags=re.MULTILINE)),
    ("labels", "a step is named with the parameters that are not preset, which once were options of all steps",
     r"stdout|stderr|file .*\.(?:json|csv|svg|ndjson)", lambda text: LABEL.sub(r"\1", text)),
    ("warnings", "an image of a batch goes the way of a single one: what is wrong with the file comes before what the "
     "output cannot hold", r"file .*\.ndjson", sorted_warnings),
    ("options", "reports list the steps with their parameters, and options as they were given",
     r"file .*\.json", without_parameters),
    ("clip", "what --clip takes is said by the row of the parameter", r"stderr",
     lambda text: re.sub(r"--clip: '.*' is .*", "--clip: #", text)),
    ("stages", "there are more stages", r"stderr",
     lambda text: re.sub(r"(the stages are gray, hist, contrast, smooth).*", r"\1", text)),
    ("decoder", "the row of decoding says which decoder ran", r"stdout|file .*\.(?:json|csv)",
     lambda text: text.replace("decode (parallel)", "decode")),
    ("tensor", "reports name the tensor, and --accept", r"file .*\.(?:nd)?json", without_tensor),
    ("fused", "the reference does a fused step's parts one after the other, and counts the bytes of both, as cpu does",
     r"stdout|stderr|file .*\.(?:json|csv)", without_fused_bytes),
]


def measured(value):
    """The report without measurements; lists in the order of threads are sorted."""
    if isinstance(value, list):
        return [measured(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if key == "spans":
            kept[key] = sorted({f"{span['name']} {span['kind']}" for span in item})
        elif key == "failures":
            kept[key] = sorted((measured(failure) for failure in item), key=str)
        elif key == "imgpipe" and isinstance(item, str):
            kept[key] = "#"  # the version
        elif key not in MEASURED and key not in VERSIONS and not key.endswith("_ms"):
            kept[key] = measured(item)
    return kept


def plain_json(text):
    """A report, the histograms or a trace without measurements; unchanged if it is not JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    events = value if isinstance(value, list) else value.get("traceEvents")  # a trace; a bare list before 0.2
    if events is not None:  # which spans occurred, not when, how often or in which thread
        value = sorted({f"{event['name']} {event['ph']} {event.get('cat')}" for event in events})
    return json.dumps(measured(value), indent=1)


def plain_csv(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return "\n".join(",".join("#" if key in COLUMNS and value else str(value) for key, value in row.items())
                     for row in rows)


def plain_table(text):
    """The report's table: names, bytes and verdicts of its rows; the other numbers are measurements."""
    lines, blocks = [], 0  # blocks of the table so far: steps, then totals
    for line in text.split("\n"):
        if re.match(r" +time ms +MB +GB/s", line):
            line, blocks = re.sub(" +", " ", line), 1
        elif blocks and not line.strip():
            blocks += 1
        elif blocks and (row := re.match(r" (\S+(?: [^\s\d]\S*)*) +(.*)", line)):
            cells = row.group(2).split()  # time, MB, ...; for totals: time, reference, ...
            has_megabytes = blocks == 1 and not (len(cells) > 2 and cells[2].endswith("x"))  # else speed-up
            cells = [cell if (has_megabytes and at == 1) or not re.fullmatch(r"[\d.]+[%x]?", cell) else "#"
                     for at, cell in enumerate(cells)]
            line = " ".join([row.group(1), *cells])
        lines.append(line)
    return "\n".join(lines)


def plain_text(text, batch):
    if not batch:
        return re.sub(TEXT[0][0], TEXT[0][1], plain_table(text))
    for pattern, replacement in TEXT:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    lines = text.split("\n")
    if "failed:" in lines and re.search(r"^  and \d+ more ", text, re.MULTILINE):
        lines = [line for line in lines if not re.match(r"  \S+: ", line)]  # in order of arrival; all are in .ndjson
    return "\n".join(sorted(lines))


def plain(part, data, batch):
    """The comparable form of a part of a run: exit code, stdout, stderr or a file."""
    if part in ("stdout", "stderr"):
        try:
            return plain_text(data.decode(), batch)
        except UnicodeDecodeError:
            return data
    if part == "exit":
        return data.decode()
    if part.endswith(".ndjson"):
        return "\n".join(sorted(plain_json(line) for line in data.decode().splitlines()))
    if part.endswith(".json"):
        return plain_json(data.decode())
    if part.endswith("r.csv"):
        return plain_csv(data.decode())
    if part.endswith("failed.txt"):
        return "\n".join(sorted(data.decode().splitlines()))
    return data


def renamed(new, old):
    """NEW's files under OLD's names: --keep-stages names a step's file by its label, 05_smooth-2-gauss.png."""
    def plain_name(part):
        return re.sub(r"-[^-+]+?(?=-|\+|\.png$)", "", part)
    names = {plain_name(part): part for part in old if part.startswith("file kept/")}
    return {names.get(plain_name(part), part) if part.startswith("file kept/") else part: data
            for part, data in new.items()}


def differences(old, new, batch):
    """Compares two runs, {part: bytes}: returns the differing parts in both forms, and the rules applied."""
    found, used = [], set()
    if old.keys() != new.keys() and renamed(new, old).keys() == old.keys():
        new = renamed(new, old)
        used.add("labels")
    for part in sorted(old.keys() | new.keys()):
        if part not in old or part not in new:
            found.append((part, *("there" if part in parts else "not there" for parts in (old, new))))
            continue
        before, after = plain(part, old[part], batch), plain(part, new[part], batch)
        for name, _, where, rewrite in RULES:
            both_texts = isinstance(before, str) and isinstance(after, str)
            if before == after or not both_texts or not re.fullmatch(where, part):
                continue
            texts = rewrite(before), rewrite(after)
            if texts != (before, after):
                before, after = texts
                used.add(name)
        if before != after:
            found.append((part, before, after))
    return found, used
