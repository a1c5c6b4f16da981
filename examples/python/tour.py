"""A tour of pfq from Python, in cells that notebooks and editors run one at a time.

    python3 tour.py

The two plots need matplotlib; the numbers need nothing.
"""

# %% A model is a file or Python data. Here is a web shop: how do its delays grow with the load?
from productform import column, pfq, rows, table

shop = {
    "servers": [{"name": "big", "capacity": 2}, {"name": "small", "capacity": 1}],
    "classes": [
        {"name": "web", "arrival_rate": 1, "servers": ["big", "small"]},
        {"name": "reports", "arrival_rate": 0.4, "servers": ["small"]},
    ],
}
answers = pfq("solve", shop, scale="0.1:2.1:0.1", percentiles=[99])
delays = table(answers, "classes", keep=["scale"])  # a DataFrame, or a list of dictionaries

for name in ["web", "reports"]:
    scales = column(delays, "scale", name=name)
    means = column(delays, "mean_delay", name=name)
    slow = column(delays, "delay.p99", name=name)
    print(f"{name}: {len(scales)} loads; at {scales[-1]:g} times the load, mean {means[-1]:.4g}, p99 {slow[-1]:.4g}")

# %% How much load can it carry? Fractions are exact.
from fractions import Fraction

limit = Fraction(pfq("stability", shop)["critical_scale_exact"])
print(f"stable below {limit} = {float(limit):.4f} times the load")

# %% Does the simulator agree? Each mean comes with the half-width of its interval.
simulated = pfq("simulate", shop, scale="0.5:2:0.5", runs=20, jumps=20000)
points = table(simulated, "classes", keep=["scale"])
off = [abs(z) for z in column(points, "mean_delay.z")]
print(f"{len(off)} simulated means; the farthest is {max(off):.1f} standard errors from the exact one")

# %% Which way to share is best for jobs that need processors and memory?
sharing = pfq("allocate", "traffic.yaml", dynamic=True, policy=["drf", "pf", "bmf"])
policies = rows(sharing, "policies", "classes", keep=["policy"])
for row in policies:
    print(f"{row['policy']:<4} {row['name']:<7} {row['mean_delay']:.4f}")

# %% Two plots
try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    raise SystemExit(0)

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for name, colour in [("web", "#0072b2"), ("reports", "#a04000")]:
    scales = column(delays, "scale", name=name)
    left.plot(scales, column(delays, "mean_delay", name=name), color=colour, label=f"{name}, mean")
    left.plot(scales, column(delays, "delay.p99", name=name), "--", color=colour, label=f"{name}, p99")
    left.errorbar(
        column(points, "scale", name=name),
        column(points, "mean_delay.mean", name=name),
        column(points, "mean_delay.half_width", name=name),
        fmt="o", color=colour, markersize=4, label=f"{name}, simulated",
    )
left.axvline(float(limit), color="grey", linestyle=":")
left.set(yscale="log", xlabel="factor of the arrival rates", ylabel="delay (s)", title="Delays of a shop")
left.legend(fontsize="small")

names = ["drf", "pf", "bmf"]
for i, name in enumerate(["search", "render"]):
    right.bar([x + 0.4 * i for x in range(3)], column(policies, "mean_delay", name=name), 0.38, label=name)
right.set_xticks([x + 0.2 for x in range(3)], [n.upper() for n in names])
right.set(ylabel="mean delay (s)", title="Three ways to share processors and memory")
right.legend()
figure.savefig("tour.svg")
