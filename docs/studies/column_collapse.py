"""Aspect ratio, run-out and height of collapsed columns, from the tables `front` of their runs, and exponents between them.

    python docs/studies/column_collapse.py LENGTH OPEN:DIR ...      LENGTH (m) of the column, OPEN (s): when its gate goes
    python docs/studies/column_collapse.py discs OPEN:DIR:LENGTH ...

The front is the farthest point of a grain that the heap touches, the height that of the highest slice two grains wide.
"""

import csv
import math
import sys


def law(a):
    """Channels: Lube et al. 2005, Lajeunesse et al. 2005."""
    return 1.2 * a if a < 2.3 else 1.9 * a ** (2 / 3)


def law_of_discs(a):
    """Staron and Hinch 2005."""
    return 2.5 * a if a < 2 else 3.25 * a**0.7


def collapse(length, opened, directory):
    with open(f"{directory}/front.csv") as file:
        rows = [{key.split(" ")[0]: float(x) for key, x in row.items()} for row in csv.DictReader(file)]
    start = [row for row in rows if row["time"] <= opened + 1e-9][-1]
    end = rows[-1]
    a, run_out = start["height"] / length, end["front"] / length - 1
    late = [row["time"] for row in rows if row["time"] > opened and row["front"] < length * (1 + 0.95 * run_out)]
    duration = (late[-1] if late else opened) - opened
    return a, int(end["grains"]), run_out, end["height"] / length, duration, end["slope"]


def power(rows, column):
    points = [(math.log(row[0]), math.log(row[column])) for row in rows]
    x, y = (sum(p[k] for p in points) / len(points) for k in (0, 1))
    return sum((p[0] - x) * (p[1] - y) for p in points) / sum((p[0] - x) ** 2 for p in points)


def main(kind, runs):
    rows = []
    for run in runs:
        if kind == "discs":
            opened, directory, length = run.rsplit(":", 2)
            length, expected = float(length), law_of_discs
        else:
            opened, directory = run.split(":", 1)
            length, expected = float(kind), law
        row = collapse(length, float(opened), directory)
        rows.append(row)
        a, grains, run_out, height, duration, slope = row
        fall = math.sqrt(2 * a * length / 9.81)
        print(
            f"| {directory} | {a:.2f} | {grains} | {run_out:.2f} | {expected(a):.2f} | {run_out / expected(a):.2f} | {height:.2f} | {duration:.2f} s | "
            f"{duration / fall:.1f} | {slope:.1f} |"
        )
    for name, some in (("a < 2.3", [r for r in rows if r[0] < 2.3]), ("a > 1.7", [r for r in rows if r[0] > 1.7])):
        # seeds of one aspect ratio have no exponent
        if some and max(r[0] for r in some) > 1.2 * min(r[0] for r in some):
            print(f"{name}: run-out ~ a^{power(some, 2):.2f}, height ~ a^{power(some, 3):.2f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
