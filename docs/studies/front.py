"""Run-out and height of a collapsed column, from bodies_end.csv: the farthest grains that the heap still touches.

    python docs/studies/front.py DIR START        START: radius of a round column about z (m), mean over 36 sectors
    python docs/studies/front.py DIR START x      START: length of a column in a channel from x = 0 on (m)
"""

import csv
import math
import sys
from collections import defaultdict


def grains(directory):
    with open(f"{directory}/bodies_end.csv") as file:
        for row in csv.DictReader(file):
            if row["name"].startswith("grain"):
                yield float(row["x"]), float(row["y"]), float(row["z"])


def connected(points, reach):
    """Those that can be reached from the middle by steps of at most this length."""
    cells = defaultdict(list)
    cell = lambda p: tuple(math.floor(x / reach) for x in p)
    for k, point in enumerate(points):
        cells[cell(point)].append(k)
    first = min(range(len(points)), key=lambda k: math.hypot(*points[k][:2]))
    found, open_ = {first}, [first]
    around = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)]
    while open_:
        k = open_.pop()
        at = cell(points[k])
        for step in around:
            for other in cells.get(tuple(a + b for a, b in zip(at, step)), ()):
                if other not in found and math.dist(points[k], points[other]) < reach:
                    found.add(other)
                    open_.append(other)
    return [points[k] for k in sorted(found)]


def main(directory, start, channel, diameter=0.005, sectors=36):
    every = list(grains(directory))
    heap = connected(every, 1.2 * diameter)
    far = [0.0] * (1 if channel else sectors)
    for x, y, _ in heap:
        k = 0 if channel else int((math.atan2(y, x) / math.tau + 0.5) * sectors) % sectors
        far[k] = max(far[k], (x if channel else math.hypot(x, y)) + 0.5 * diameter)
    front = sum(far) / len(far)
    middle = sorted(z + 0.5 * diameter for x, y, z in heap if (x if channel else math.hypot(x, y)) < 4 * diameter)
    print(f"{directory}: {len(heap)} of {len(every)} grains, run-out {front / start - 1:.2f}, height {middle[-len(middle) // 20] / start:.2f}")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), len(sys.argv) > 3)
