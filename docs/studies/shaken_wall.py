"""A synthetic accelerogram: white noise through the ground of Kanai and Tajimi and the filter of Clough and Penzien, with an envelope.

    python3 docs/studies/shaken_wall.py > docs/studies/shaken_wall.csv

t (s), a (g): seeded, 10 s in steps of 20 ms, its largest value 0.2 g.
"""
from math import exp, pi

STEP, END, PEAK = 0.02, 10.0, 0.2
FINE = 20  # parts of a step in which the filters are integrated


def noise(seed):
    """Sums of twelve numbers of a linear congruential generator, less their mean: nearly normal."""
    while True:
        total = -6.0
        for _ in range(12):
            seed = (6364136223846793005 * seed + 1442695040888963407) % 2**64
            total += (seed >> 11) / 2**53
        yield total


def filtered(seed):
    ground, damping = 2 * pi * 2.5, 0.6  # firm soil
    low, low_damping = 2 * pi * 0.4, 0.6  # takes away what would leave the ground moving
    source, h = noise(seed), STEP / FINE
    x = v = y = w = 0.0
    found = []
    for k in range(round(END / STEP) + 1):
        t = k * STEP
        envelope = (t / 1.5) ** 2 if t < 1.5 else 1.0 if t < 6.0 else exp(-0.8 * (t - 6.0))
        white = envelope * next(source)
        total = 0.0
        for _ in range(FINE):
            v += h * (-white - 2 * damping * ground * v - ground * ground * x)
            x += h * v
            soil = 2 * damping * ground * v + ground * ground * x
            w += h * (soil - 2 * low_damping * low * w - low * low * y)
            y += h * w
            total += (soil - 2 * low_damping * low * w - low * low * y) / FINE
        found.append(total)
    largest = max(abs(a) for a in found)
    return [PEAK * a / largest for a in found]


if __name__ == "__main__":
    print("t,a")
    for k, a in enumerate(filtered(1)):
        print(f"{k * STEP:.2f},{a:.5f}")
