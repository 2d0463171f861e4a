"""Backbone, stress and forces of a packing between servo walls, from the tables that a run leaves at its end.

    python docs/studies/isotropic_packing.py DIR ...        scenes isotropic_packing and isotropic_discs: a row for each run

A contact carries if its force exceeds 1e-4 of the mean; a grain that fewer than D + 1 such contacts hold (2 where there is friction) is a rattler,
and is left out with its contacts until none is left. The core is what is farther than MARGIN from all walls.
"""

import csv
import math
import sys

HALF = 0.005  # half of the thickness of a wall (m)
MARGIN = 0.03
CARRIES = 1e-4
STANDING = {"left": 0, "front": 1, "floor": 2}
PRESSING = {"right": 0, "back": 1, "lid": 2}


def table(path):
    with open(path) as file:
        return [{key.split(" ")[0]: text for key, text in row.items()} for row in csv.DictReader(file)]


def vector(row, keys):
    return [float(row[key]) for key in keys]


def main(directory):
    bodies = {row["name"]: vector(row, "xyz") for row in table(f"{directory}/bodies_end.csv")}
    grains = {name for name in bodies if name.startswith("grain.")}
    size = {axis: bodies[name][axis] - HALF for name, axis in PRESSING.items() if name in bodies}
    axes = sorted(size)
    links = []
    for row in table(f"{directory}/contacts_end.csv"):
        normal = float(row["normal_force"])
        if normal > 0.0:
            friction = vector(row, ("friction_x", "friction_y", "friction_z"))
            force = [normal * n + t for n, t in zip(vector(row, ("normal_x", "normal_y", "normal_z")), friction)]
            links.append((row["body1"], row["body2"], normal, force, vector(row, "xyz"), math.hypot(*friction)))
    mean = sum(link[2] for link in links) / len(links)
    # forces are those of the step, normals those of its end: what turns them by 1e-3 is no friction
    rubs = sum(link[5] for link in links) > 0.02 * mean * len(links)
    least = 2 if rubs else len(axes) + 1
    carrying = [link for link in links if link[2] > CARRIES * mean]
    alive = set(grains)
    while True:
        kept = [link for link in carrying if all(end in alive or end not in grains for end in link[:2])]
        count = dict.fromkeys(alive, 0)
        for link in kept:
            for end in link[:2]:
                if end in count:
                    count[end] += 1
        loose = {name for name, n in count.items() if n < least}
        if not loose:
            break
        alive -= loose
    core = [name for name in grains if all(MARGIN < bodies[name][a] < size[a] - MARGIN for a in axes)]
    inside = [count[name] for name in core if name in alive]
    # forces of the standing walls, and Love-Weber stress: branches from centres to the contact points, those of walls among them
    wall, stress, resultant = dict.fromkeys(axes, 0.0), [[0.0] * 3 for _ in range(3)], {name: [0.0] * 3 for name in grains}
    for one, two, normal, force, point, _ in links:
        for end, sign in ((one, 1.0), (two, -1.0)):
            if end in STANDING:
                wall[STANDING[end]] += normal
            if end in grains:
                for a in range(3):
                    resultant[end][a] += sign * force[a]
                    for b in range(3):
                        stress[a][b] += sign * force[a] * (bodies[end][b] - point[b])
    # stress times volume against force times length
    ratio = [stress[a][a] / (wall[a] * size[a]) for a in axes]
    pressure = [stress[a][a] / math.prod(size[a] for a in axes) for a in axes]
    spread = max(pressure) / min(pressure)
    held = sum(math.hypot(*resultant[name]) for name in alive) / len(alive) / mean
    forces = sorted(link[2] for link in kept if link[0] in grains and link[1] in grains)
    average = sum(forces) / len(forces)
    forces = [f / average for f in forces]
    above = lambda low: sum(f > low for f in forces) / len(forces)
    # exponential tail: the mean excess above 1.5, where P(f) ~ exp(-b f), is 1/b
    tail = [f - 1.5 for f in forces if f > 1.5]
    small = sum(f < 0.1 for f in forces) / len(forces) / 0.1
    equations = len(axes) * len(alive) + len(axes)
    measure = table(f"{directory}/core.csv")[-1]
    print(
        f"{directory}: {len(grains)} grains, rattlers {1 - len(alive) / len(grains):.4f} ({len(core) - len(inside)} of {len(core)} in the core)\n"
        f"  contacts {len(kept)}, over equations {len(kept) / equations:.4f}; z core {sum(inside) / max(1, len(inside)):.3f}, "
        f"z all {sum(count.values()) / len(alive):.3f}\n"
        f"  phi core {float(measure['solid_fraction']):.4f}, box {' '.join(f'{1000 * size[a]:.2f}' for a in axes)} mm\n"
        f"  stress inside over walls {' '.join(f'{r:.6f}' for r in ratio)}, largest over smallest {spread:.4f}, unbalanced {held:.1e}\n"
        f"  forces over their mean: P(f > 1, 2, 3, 4) {above(1):.3f} {above(2):.4f} {above(3):.4f} {above(4):.5f}, tail exp(-{len(tail) / sum(tail):.2f} f), "
        f"density at f < 0.1 {small:.2f}"
    )


if __name__ == "__main__":
    for run in sys.argv[1:]:
        main(run)
