#!/usr/bin/env python3
"""Includes point down only: from layer to layer, and in one direction inside a layer. Libraries stay where they belong.

    includes.py            exit 1 and a line for each wrong include
    includes.py --graph    prints which module includes which, and how often
    includes.py --check    tests itself on wrong includes

A module is a directory. At the top of app/, which holds entry points and code for all commands, it is a header with
its source.
Standard library only.
"""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRODUCT = ("app", "lab", "pipeline", "kernels", "images")

# The layers that files of a directory may include; the longest matching name applies.
ALLOWED = {
    "images": (),
    "kernels": ("images",),
    "pipeline": ("kernels", "images"),
    "app": ("pipeline", "kernels", "images"),
    "lab": ("app", "pipeline", "kernels", "images"),
    "lab/kernels": ("kernels", "images"),
    "lab/pipeline": ("lab/kernels", "pipeline", "kernels", "images"),
}

KERNELS = r"^(lab/)?kernels/"
# Forbidden patterns: (pattern, files to search, exempt files, reason).
FORBIDDEN = [
    (r'^\s*#\s*include "(\.|[^/]+$)', r"^(app|lab|pipeline|kernels|images|tests)/", r"^lab/bench/templates/",
     "paths are written from the top of the tree"),
    (r"#include <(iostream|cstdio|thread|mutex)>", KERNELS, None, "kernels neither print nor synchronise"),
    (r"cudaMalloc|cudaFree|cudaHostAlloc|dlopen|thread_local|\bstatic (?!const)[^(;=]*[=;]", KERNELS, None,
     "kernels, the lab's too, neither allocate nor keep state"),
    (r"#include <cxxopts", "", r"^app/(options/option_parser|version)\.cpp$",
     "cxxopts is for app/options/option_parser.cpp (and its version)"),
    (r"#include <toml", "", r"^app/options/preset_file\.cpp$", "toml++ is for app/options/preset_file.cpp"),
    (r"#include <sha2", "", r"^images/sha256\.cpp$", "libmd is for images/sha256.cpp"),
    (r"#include <spdlog/[^v]", "", r"^app/log\.cpp$", "spdlog is for app/log.cpp"),
    (r"#include <stb/", "", r"^images/codecs/stb/stb_codec\.cpp$", "stb is for images/codecs/stb/stb_codec.cpp"),
    (r"#include <(cuda|nvtx)", "", r"\.cuh?$|^pipeline/cuda/|^lab/(benchmarks/|pipeline/.*_cuda)|^tests/",
     "CUDA headers are for .cu files and pipeline/cuda"),
]

Include = collections.namedtuple("Include", "file line path")


def sources():
    """{path: text} of the tree's sources."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    files = {path: os.path.join(ROOT, path) for path in listed if re.search(r"\.(h|cpp|cu|cuh)$", path)}
    return {path: open(file, encoding="utf-8").read() for path, file in files.items() if os.path.exists(file)}


def includes_of(files):
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if found := re.match(r'\s*#\s*include "([^"]+)"', line):
                yield Include(path, number, found[1])


def module_of(path):
    directory = os.path.dirname(path)
    return os.path.splitext(path)[0] if directory == "app" else directory


def is_in(path, directory):
    return path.startswith(directory + "/")


# ---- the rules ---------------------------------------------------------------------------------------

def text_complaints(files):
    for pattern, where, but, why in FORBIDDEN:
        for path, text in files.items():
            if not re.search(where, path) or (but and re.search(but, path)):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if re.search(pattern, line):
                    yield f"{path}:{number}: {line.strip()}\n    {why}"


def layer_complaints(includes):
    for one in includes:
        homes = [home for home in ALLOWED if is_in(one.file, home)]
        layer = one.path.split("/")[0]
        if not homes or layer not in PRODUCT + ("tests",):
            continue
        home = max(homes, key=len)
        if not any(is_in(one.path, directory) for directory in (home, *ALLOWED[home])):
            allowed = ", ".join(ALLOWED[home]) or "no other layer"
            yield f'{one.file}:{one.line}: #include "{one.path}"\n    {home}/ may include {allowed}'


def operator_complaints(includes):
    for one in includes:
        operator = os.path.dirname(one.file)
        if re.match(r"kernels/(?!shared|table)", operator + "/"):
            target = os.path.dirname(one.path)
            if is_in(target, "kernels") and target not in (operator, "kernels/shared"):
                yield (f'{one.file}:{one.line}: #include "{one.path}"\n'
                       "    operators include no other operator: what they share stands in kernels/shared/")


def graph_of(includes):
    """{(module, module): includes} between modules of one layer."""
    edges = collections.defaultdict(list)
    for one in includes:
        pair = module_of(one.file), module_of(one.path)
        if pair[0] != pair[1] and one.file.split("/")[0] == one.path.split("/")[0] in PRODUCT:
            edges[pair].append(one)
    return edges


def reachable(edges):
    """{module: all modules that it includes, directly or indirectly}."""
    direct = collections.defaultdict(set)
    for start, end in edges:
        direct[start].add(end)
    found = {}
    for module in list(direct):
        seen, waiting = set(), [module]
        while waiting:
            new = direct[waiting.pop()] - seen
            seen |= new
            waiting += new
        found[module] = seen
    return found


def shortest_cycle(edges):
    best = None
    for first in sorted({start for start, _ in edges}):
        before, waiting = {}, collections.deque([first])
        while waiting and first not in before:
            module = waiting.popleft()
            for start, end in sorted(edges):
                if start == module and end not in before:
                    before[end] = module
                    waiting.append(end)
        path = [first]
        while before[path[0]] != first:
            path.insert(0, before[path[0]])
        if best is None or len(path) < len(best) - 1:
            best = [first, *path]
    return best


def listed(lines):
    return "\n".join(f'    {one.file}:{one.line}: #include "{one.path}"' for one in lines)


def cycle_text(edges):
    """The shortest cycle, beginning with the pair of modules that has the fewest includes."""
    cycle = shortest_cycle(edges)
    pairs = sorted(zip(cycle, cycle[1:]), key=lambda pair: len(edges[pair]))
    return "\n".join([f"cycle: {' -> '.join(cycle)}", *(listed(edges[pair]) for pair in pairs)])


def cycle_complaints(includes):
    edges = graph_of(includes)
    reach = reachable(edges)
    closed = {pair: lines for pair, lines in edges.items() if pair[0] in reach.get(pair[1], ())}
    if closed:
        yield cycle_text(closed)


def complaints(files):
    includes = list(includes_of(files))
    yield from layer_complaints(includes)
    yield from operator_complaints(includes)
    yield from cycle_complaints(includes)
    yield from text_complaints(files)


# ---- running -----------------------------------------------------------------------------------------

def print_graph(files):
    for (start, end), lines in sorted(graph_of(includes_of(files)).items()):
        print(f"{start} -> {end}  {len(lines)}")


def self_test():
    def include(*paths):
        return "".join(f'#include "{path}"\n' for path in paths)

    right = {"images/image.h": "", "images/files/file.h": include("images/image.h"),
             "images/codecs/png/png_reader.cpp": include("images/files/file.h", "images/codecs/codec.h"),
             "images/codecs/codec.h": include("images/image.h"), "kernels/stage.h": include("images/image.h"),
             "pipeline/engine.h": include("kernels/stage.h"), "pipeline/host/bands.h": include("pipeline/engine.h"),
             "app/log.h": "", "app/files/file.h": include("app/log.h"), "app/main.cpp": include("app/files/file.h"),
             "lab/kernels/stage_variant.cu": include("kernels/stage.h"),
             "tests/images/image_test.cpp": include("images/image.h", "tests/support/made.h")}
    assert not list(complaints(right)), list(complaints(right))

    def wrong(path, text, said):
        found = list(complaints({**right, path: right.get(path, "") + text}))
        assert len(found) == 1 and all(words in found[0] for words in said), (path, found)

    wrong("images/image.cpp", include("kernels/stage.h"), ["images/image.cpp:1", "no other layer"])
    wrong("kernels/gray/gray.h", include("pipeline/engine.h"), ["kernels/ may include images"])
    wrong("kernels/gray/cpu.cpp", include("kernels/shared/tile.h", "kernels/hist/hist.h"),
          ["kernels/gray/cpu.cpp:2", "no other operator"])
    wrong("pipeline/plan.h", include("tests/support/made.h"), ["pipeline/plan.h:1"])
    wrong("app/main.cpp", include("lab/bench/bench.h"), ["app/ may include pipeline, kernels, images"])
    wrong("lab/kernels/stage_variant.h", include("lab/pipeline/lab.h"), ["lab/kernels/ may include"])
    wrong("lab/pipeline/lab.h", include("app/main.h"), ["lab/pipeline/ may include"])
    back = include("images/codecs/png/inflate.h")
    wrong("images/files/input.h", back,
          ["images/files/input.h:1: #include", "images/codecs/png/png_reader.cpp:1: #include",
           "cycle: images/codecs/png -> images/files -> images/codecs/png"])
    wrong("pipeline/engine.h", include("pipeline/host/bands.h"), ["pipeline/engine.h:2", "pipeline/host/bands.h:1"])
    wrong("app/log.h", include("app/files/file.h"), ["app/log.h:1", "app/files/file.h:1"])
    wrong("kernels/gray/cuda.cu", "cudaMalloc(&p, 1);\n", ["kernels/gray/cuda.cu:1", "neither allocate"])
    wrong("app/log.h", "#include <spdlog/spdlog.h>\n", ["spdlog is for"])
    for path in ("./log.h", "../app/log.h", "log.h"):
        wrong("app/log.h", include(path), [f'app/log.h:1: #include "{path}"', "from the top of the tree"])


def main():
    if sys.argv[1:] == ["--check"]:
        self_test()
    elif sys.argv[1:] == ["--graph"]:
        print_graph(sources())
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        found = list(complaints(sources()))
        for complaint in found:
            print(complaint, file=sys.stderr)
        if found:
            sys.exit(f"includes: {len(found)} rules broken")
        print("includes: point down only")


if __name__ == "__main__":
    main()
