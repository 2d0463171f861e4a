"""Inertial number, friction and solid fraction of a uniform shear, from whole.csv of runs of `simple_shear`.

    python docs/studies/shear.py FROM DIR...        means from the strain FROM on; rate and diameter are those of the built-in scene
"""

import csv
import math
import sys

RATE, DIAMETER, DENSITY = 20.0, 0.008, 2500.0


def main(strain, directories):
    print("grains    phi       I      mu  scatter   mu_zz  contacts  N1/P    N2/P")
    for directory in directories:
        with open(f"{directory}/whole.csv") as file:
            rows = [{key.split(" ")[0]: float(x) for key, x in row.items()} for row in csv.DictReader(file)]
        rows = [row for row in rows if row["time"] * RATE >= strain - 1e-9]
        mean = lambda key, some=rows: sum(row[key] for row in some) / len(some)
        pressure = lambda some=rows: sum(mean(f"stress_{a}{a}", some) for a in "xyz") / 3
        shear = lambda some=rows: -0.5 * (mean("stress_xz", some) + mean("stress_zx", some))
        p, mu = pressure(), shear() / pressure()
        part = -(-len(rows) // 4)
        quarters = [rows[k : k + part] for k in range(0, len(rows), part)]
        scatter = max(abs(shear(some) / pressure(some) - mu) for some in quarters)
        inertial = RATE * DIAMETER * math.sqrt(DENSITY / p)
        xx, yy, zz = (mean(f"stress_{a}{a}") for a in "xyz")
        print(
            f"{mean('grains'):6.0f}  {mean('solid_fraction'):.3f}  {inertial:.4f}  {mu:.3f}  {scatter:.3f}    {shear() / zz:.3f}"
            f"   {mean('coordination'):.2f}     {(xx - zz) / p:+.3f}  {(zz - yy) / p:+.3f}"
        )


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
