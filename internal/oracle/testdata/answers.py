"""Print the models of a file such as oi_reference.json with their exact answers.

    python3 answers.py models.json > oi_reference.json

models.json is a list of {"name": ..., "model": {"servers": [...], "classes": [...]}}, of single servers, rates
and capacities as strings. What "expect" holds, if anything, is computed again, as fractions, from all 2^N sets of
classes; any Python 3 will do, no package is needed.
"""

import json
import sys
from fractions import Fraction
from itertools import combinations


def answers(model):
    capacity = {s["name"]: Fraction(s["capacity"]) for s in model["servers"]}
    rate = [Fraction(c["arrival_rate"]) for c in model["classes"]]
    servers = [frozenset(c["servers"]) for c in model["classes"]]
    classes = range(len(rate))
    sets = [frozenset(a) for size in classes for a in combinations(classes, size + 1)]  # smaller ones first
    mu = {a: sum(capacity[s] for s in frozenset().union(*(servers[i] for i in a))) for a in sets}
    load = {a: sum(rate[i] for i in a) for a in sets}
    tight = min((a for a in sets if load[a]), key=lambda a: mu[a] / load[a])  # the first that attains it
    expect = {
        "stable": mu[tight] > load[tight],
        "critical_scale": mu[tight] / load[tight],
        "margin": min(mu[a] - load[a] for a in sets),
        "bottleneck": [model["classes"][i]["name"] for i in sorted(tight)],
    }
    if not expect["stable"]:
        return expect
    g = {frozenset(): Fraction(1)}  # G(A), and D_j(A) = λ_j dG(A)/dλ_j
    d = {frozenset(): [Fraction(0) for _ in classes]}
    for a in sets:
        slack = mu[a] - load[a]
        g[a] = sum(rate[i] * g[a - {i}] for i in a) / slack
        d[a] = [
            (sum(rate[i] * d[a - {i}][j] for i in a) + (rate[j] * (g[a - {j}] + g[a]) if j in a else 0)) / slack
            for j in classes
        ]
    z = sum(g.values())
    jobs = [sum(v[j] for v in d.values()) / z for j in classes]
    expect |= {
        "normalization": z,
        "mean_jobs": jobs,
        "service_rate": [l / x for l, x in zip(rate, jobs)],
        "mean_delay": [x / l for l, x in zip(rate, jobs)],
        "utilization": [sum(v for a, v in g.items() if any(s in servers[i] for i in a)) / z for s in capacity],
    }
    return expect


with open(sys.argv[1]) as file:
    cases = json.load(file)
for case in cases:
    case["expect"] = answers(case["model"])
print(json.dumps(cases, indent=1, default=str))
