#!/usr/bin/env python3
"""Measures overlaps in a trace: trace_overlap.py TRACE.json [--device-bound]

For every pair of upload, kernels, download and the workers' decode and encode: the time in which both were running.
Fails if less than 90 % of the device's work overlapped the workers'; with --device-bound if two of upload, kernels and
download never overlapped."""
import itertools
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
spans = {}
for event in events:
    if event["ph"] != "X":
        continue
    name = {"kernel": "kernels"}.get(event["cat"], event["name"].split(" (")[0].split("+")[0])  # decode+gray (parallel)
    if name in ("upload", "kernels", "download", "decode", "encode"):
        spans.setdefault(name, []).append((event["ts"], event["ts"] + event["dur"]))


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def both(a, b):
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            out.append([start, end])
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out


merged = {name: union(intervals) for name, intervals in spans.items()}
for name, intervals in merged.items():
    print(f"{name}: at least one running for {length(intervals) / 1e3:.2f} ms")
bound = "--device-bound" in sys.argv
overlap = True
for a, b in itertools.combinations(merged, 2):
    shared = length(both(merged[a], merged[b]))
    print(f"{a} while {b}: {shared / 1e3:.2f} ms")
    if {a, b} <= {"upload", "kernels", "download"} and shared == 0:
        overlap = False
device = union([list(i) for name in ("upload", "kernels", "download") for i in merged.get(name, [])])
workers = union([list(i) for name in ("decode", "encode") for i in merged.get(name, [])])
share = length(both(device, workers)) / max(1, length(device))
print(f"device work overlapped by the workers': {100 * share:.1f} %")
sys.exit(0 if device and (overlap if bound else share >= 0.9) else 1)
