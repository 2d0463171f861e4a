"""Rates of discharge from the tables `flow.csv` of runs, and Beverloo's law through them.

    python docs/studies/beverloo.py POWER GRAIN OPEN WIDTH:DIR ...
    POWER: 2.5 for a round orifice, 1.5 for a slot; GRAIN (m): mean diameter; OPEN (s): when the gate goes; WIDTH (in grains) of each opening

The rate is the slope of the mass that has left, from 0.3 to 0.95 of the time from the opening to the end.
"""

import csv
import math
import sys


def line(points):
    """Slope, value at 0 and R² of the straight line of least squares."""
    x, y = (sum(p[k] for p in points) / len(points) for k in (0, 1))
    sxx, syy = sum((p[0] - x) ** 2 for p in points), sum((p[1] - y) ** 2 for p in points)
    sxy = sum((p[0] - x) * (p[1] - y) for p in points)
    return sxy / sxx, y - sxy / sxx * x, sxy * sxy / (sxx * syy)


def rate(opened, directory):
    with open(f"{directory}/flow.csv") as file:
        rows = list(csv.DictReader(file))
    time, mass = (next(key for key in rows[0] if key.startswith(name)) for name in ("time", "outlet.mass"))
    curve = [(float(row[time]), float(row[mass])) for row in rows]
    end = curve[-1][0]

    def slope(start, stop):
        t0, t1 = (opened + part * (end - opened) for part in (start, stop))
        return line([p for p in curve if t0 <= p[0] < t1])[0]

    return slope(0.3, 0.95), slope(0.65, 0.95) / slope(0.3, 0.65) - 1


def main(power, grain, opened, runs):
    print(f"| D/d | W (kg/s) | W^(1/{power}) | change from the first half of the time to the second |")
    points = []
    for run in runs:
        width, directory = run.split(":", 1)
        w, change = rate(opened, directory)
        points.append((float(width) * grain, w))
        print(f"| {width} | {w:.4f} | {w ** (1 / power):.4f} | {100 * change:+.0f} % |")
    if len(points) < 2:
        return
    slope, at_zero, r2 = line([(d, w ** (1 / power)) for d, w in points])
    k = -at_zero / slope / grain
    print(f"R² {r2:.5f}, k = {k:.2f}, C ρ (times the length of a slot) = {slope ** power / math.sqrt(9.81):.4g}")
    for k in (1.4, k):
        exponent = line([(math.log(d - k * grain), math.log(w)) for d, w in points])[0]
        print(f"exponent with k = {k:.2f}: {exponent:.2f}")


if __name__ == "__main__":
    main(float(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
