"""Strains, stresses and friction angle of a run of the scene `triaxial`, from walls.csv and sample.csv.

    python docs/studies/triaxial.py DIR [EVERY]        a row for each EVERY (0.02) of axial strain; then peak, end and stress inside
"""

import csv
import math
import sys

HALF = 0.005  # half of the thickness of a wall (m)


def table(path):
    with open(path) as file:
        return [{key.split(" ")[0]: float(x) for key, x in row.items()} for row in csv.DictReader(file)]


def main(directory, every=0.02):
    looks, start = [], None
    for wall, sample in zip(table(f"{directory}/walls.csv"), table(f"{directory}/sample.csv")):
        x, y, z = (wall[key] - HALF for key in ("right.x", "back.y", "lid.z"))
        if start is None and abs(wall["ram.contact_z"]) > 0.0:
            start = (z, x * y * z)
        if start is None:
            packed = (x * y * z, sample)
            continue
        side = 0.5 * (abs(wall["left.contact_x"]) / (y * z) + abs(wall["front.contact_y"]) / (x * z))
        axial = abs(wall["floor.contact_z"]) / (x * y)
        angle = math.degrees(math.asin((axial - side) / (axial + side)))
        inside = sample["stress_zz"] / axial, 0.5 * (sample["stress_xx"] + sample["stress_yy"]) / side
        strain, volume = math.log(start[0] / z), math.log(start[1] / (x * y * z))
        looks.append((strain, volume, axial, side, angle, *inside, sample["coordination_mechanical"], sample["unbalanced"], sample["solid_fraction"]))
    print("  e1     ev      s1     s3   angle  inside/walls   Z    unbalanced  phi")
    for k, look in enumerate(looks):
        if k == 0 or look[0] // every > looks[k - 1][0] // every:
            print("{:.3f} {:+.4f} {:7.1f} {:6.1f} {:5.1f}   {:.3f} {:.3f}   {:.2f}   {:.4f}   {:.4f}".format(*look))
    window = lambda some: sum(look[4] for look in some) / len(some)
    of = [(window([l for l in looks if abs(l[0] - look[0]) <= 0.01]), look[0]) for look in looks if 0.01 <= look[0] <= looks[-1][0] - 0.01]
    peak, at = max(of)
    late = [look for look in looks if look[0] >= looks[-1][0] - 0.1]
    around = [look for look in looks if abs(look[0] - at) <= 0.02]
    # sin psi = -dev/(2 de1 - dev) at the peak (axial compression)
    de1, dev = around[-1][0] - around[0][0], around[-1][1] - around[0][1]
    psi = math.degrees(math.asin(-dev / (2 * de1 - dev)))
    print(f"peak {peak:.1f} degrees at {at:.3f}, dilation angle there {psi:.1f}; last 0.1 of strain {window(late):.1f}")
    some = [look for look in looks if look[0] > 0.02]
    axial, side = (sum(look[k] * look[m] for look in some) / sum(look[m] for look in some) for k, m in ((5, 2), (6, 3)))
    print(f"stress inside over that of the walls, mean from 0.02 on: {axial:.4f} axial, {side:.4f} sides; packed phi {packed[1]['solid_fraction']:.4f}")


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]))
