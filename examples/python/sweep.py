"""Mean delays of a cluster against its load, by pfq and Python alone.

    python3 sweep.py shop.yaml [FACTORS]

FACTORS are those of the arrival rates, such as 0.5,1,1.5 or the range 0.2:2:0.2. The environment variable PFQ names the
program, pfq by default. With matplotlib the curves are drawn to delays.png, too.
"""

import json
import os
import subprocess
import sys


def pfq(*arguments):
    """Runs pfq and returns its answers as Python data. Status 1 is an answer, too: that of an unstable cluster."""
    run = subprocess.run([os.environ.get("PFQ", "pfq"), *arguments, "--format", "json"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(run.stderr.strip())
    return json.loads(run.stdout)


def delays(model, factors):
    """Returns the mean delay of each class at each factor, [(factor, {class: delay})], as far as the cluster is stable."""
    answers = pfq("solve", model, "--scale", factors)
    return [(a["scale"], {c["name"]: c["mean_delay"] for c in a["classes"]}) for a in answers if a["stable"] is not False]


def draw(points, file):
    """Draws the delays, if matplotlib is there."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return False
    for name in points[0][1]:
        pyplot.plot([x for x, _ in points], [d[name] for _, d in points], label=name)
    pyplot.xlabel("factor of the arrival rates")
    pyplot.ylabel("mean delay")
    pyplot.yscale("log")
    pyplot.legend()
    pyplot.savefig(file)
    return True


def main(model, factors="0.2:2:0.2"):
    points = delays(model, factors)
    names = list(points[0][1])
    print("scale", *names)
    for factor, delay in points:
        print(f"{factor:g}", *(f"{delay[name]:.6g}" for name in names))
    if draw(points, "delays.png"):
        print("drawn: delays.png", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
