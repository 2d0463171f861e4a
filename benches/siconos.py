#!/usr/bin/env python3
"""Times the solvers of Siconos on a folder of FCLIB files: what `benches/solvers.rs` compares with.

    siconos.py FOLDER [--out siconos.csv] [--table siconos.md] [--limit 10] [--only NAME]

Needs the Debian packages python3-siconos, python3-numpy and python3-h5py and Debian's python3. One line of CSV per problem,
tolerance and solver that answered: CPU milliseconds of the driver call alone on one thread, the best of three calls or
more. An answer counts when its residual `rel`, recomputed here from the reactions, is at most the tolerance asked for;
a solver that stops less than ten times above it is asked once more, ten times as strictly. Each solver runs in a process
of its own under a time limit, because some never return and some abort.

Storage as in Siconos' own data: sparse blocks for local problems (dense where the name says so, n <= 1500), sparse
for global ones, dense for rolling friction.
"""
import argparse, csv, math, multiprocessing, os, pathlib, resource, sys, tempfile, time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
sys.path.pop(0)  # this file's own folder: it would be taken for the package of the same name
import h5py
import numpy as np
import siconos.numerics as sn

DENSE_LIMIT = 1500


class Problem:
    """One FCLIB file: matrices as (rows, columns, i, j, x) triplets."""

    def __init__(self, path):
        self.name = path.stem
        with h5py.File(path, "r") as file:
            root = next(key for key in file if key.startswith("fclib_"))
            self.kind = root[len("fclib_"):]
            group = file[root]
            self.dim = int(group["spacedim"][0])
            vectors = {key: np.array(value, dtype=float).ravel() for key, value in group["vectors"].items()}
            self.mu, self.mu_r = vectors["mu"], vectors.get("mu_r")
            self.nc = len(self.mu)
            if self.kind.startswith("local"):
                self.w, self.q = read_matrix(group["W"]), vectors["q"]
            else:
                self.m, self.h = read_matrix(group["M"]), read_matrix(group["H"])
                self.f, self.b = vectors["f"], vectors["w"]

    def rel(self, r, v):
        """The natural map over the largest term, from the reactions (and velocities, which M v = H r + f certifies)."""
        if self.kind.startswith("local"):
            u = multiply(self.w, r) + self.q
            return ratio(self.natural_map(r, u), max(map(np.linalg.norm, (self.q, r, u))))
        mv, hr = multiply(self.m, v), multiply(self.h, r)
        u = multiply(self.h, v, transposed=True) + self.b
        balance = ratio(np.linalg.norm(mv - hr - self.f), max(map(np.linalg.norm, (self.f, mv, hr))))
        return balance + ratio(self.natural_map(r, u), max(np.linalg.norm(r), np.linalg.norm(u)))

    def natural_map(self, r, u):
        if self.nc == 0:
            return 0.0
        r, u = r.reshape(self.nc, -1), u.reshape(self.nc, -1)
        x = r - u
        if self.mu_r is None:
            x[:, 0] -= self.mu * np.linalg.norm(u[:, 1:], axis=1)
            discs = [(self.mu, slice(1, None))]
        else:
            half = r.shape[1] // 2
            discs = [(self.mu, slice(1, half + 1)), (self.mu_r, slice(half + 1, None))]
            x[:, 0] -= sum(mu * np.linalg.norm(u[:, part], axis=1) for mu, part in discs)
        return float(np.linalg.norm(r - project(x, discs)))


def ratio(a, b):
    return 0.0 if a == 0.0 else a / max(b, sys.float_info.min)


def project(x, discs):
    """Nearest points of {|x_a| <= mu_a x_n for every disc}: of all choices of binding discs the nearest feasible one."""
    lengths = [np.linalg.norm(x[:, part], axis=1) for _, part in discs]
    best, nearest = np.zeros_like(x), (x**2).sum(axis=1)
    for choice in range(2 ** len(discs)):
        on = [bool(choice >> k & 1) for k in range(len(discs))]
        top = x[:, 0] + sum(mu * t for (mu, _), t, a in zip(discs, lengths, on) if a)
        s = top / (1.0 + sum(mu**2 for (mu, _), a in zip(discs, on) if a))
        feasible, candidate = s >= 0.0, x.copy()
        candidate[:, 0] = s
        for (mu, part), t, a in zip(discs, lengths, on):
            feasible &= (t >= mu * s) & (t > 0.0) if a else t <= mu * s
            if a:
                candidate[:, part] *= (mu * s / np.where(t > 0.0, t, 1.0))[:, None]
        distance = ((candidate - x) ** 2).sum(axis=1)
        better = feasible & (distance < nearest)
        best[better], nearest[better] = candidate[better], distance[better]
    return best


def read_matrix(group):
    m, n, nz = (int(group[key][0]) for key in ("m", "n", "nz"))
    p, i, x = (np.array(group[key]).ravel() for key in ("p", "i", "x"))
    if nz >= 0:
        rows, columns, x = i[:nz], p[:nz], x[:nz]
    else:
        count = p[(n if nz == -1 else m)]
        spread = np.repeat(np.arange(len(p) - 1), np.diff(p))
        rows, columns = (i[:count], spread) if nz == -1 else (spread, i[:count])
        x = x[:count]
    return m, n, rows.astype(np.int64), columns.astype(np.int64), x.astype(float)


def multiply(a, x, transposed=False):
    m, n, rows, columns, values = a
    if transposed:
        rows, columns, m = columns, rows, n
    return np.bincount(rows, weights=values * x[columns], minlength=m) if m else np.zeros(0)


def numbers(values):
    return " ".join(repr(float(x)) for x in values) + "\n"


def matrix_text(a, storage, block):
    """The matrix in the text format of Siconos."""
    m, n, rows, columns, x = a
    head = f"{ {'dense': 0, 'block': 1, 'sparse': 2}[storage] }\n{m}\n{n}\n"
    if storage == "dense":
        full = np.zeros((m, n))
        np.add.at(full, (rows, columns), x)
        return head + f"{m} {n}\n" + numbers(full.ravel(order="F"))
    if storage == "sparse":
        lines = [f"{i} {j} : {v!r}\n" for i, j, v in zip(rows.tolist(), columns.tolist(), x.tolist())]
        return head + f"1\nCSparse\ntriplet: {m}-by-{n}, nzmax: {len(x)} nnz: {len(x)}\n" + "".join(lines)
    count, key = m // block, (rows // block) * (n // block) + columns // block
    keys, index = np.unique(key, return_inverse=True)
    blocks = np.zeros((len(keys), block, block))
    np.add.at(blocks, (index, rows % block, columns % block), x)
    ends = " ".join(str(block * (i + 1)) for i in range(count)) + "\n"
    starts = np.searchsorted(keys // count, np.arange(count + 1))
    text = head + f"{len(keys)}\n{count}\n{count}\n" + ends + ends + f"{count + 1} {len(keys)}\n"
    text += " ".join(map(str, starts)) + "\n" + " ".join(map(str, keys % count)) + "\n"
    return text + "".join(f"{k}\n" + numbers(b.ravel(order="F")) for k, b in enumerate(blocks))


def load(problem, storage, folder):
    """The problem as Siconos holds it, by way of its own text files."""
    text = f"{problem.dim}\n{problem.nc}\n"
    if problem.kind.startswith("local"):
        text += matrix_text(problem.w, storage, problem.dim) + numbers(problem.q)
        reader = "frictionContact" if problem.mu_r is None else "rollingFrictionContact"
    else:
        text += matrix_text(problem.m, storage, 1) + matrix_text(problem.h, storage, 1) + numbers(problem.f) + numbers(problem.b)
        reader = "globalFrictionContact" if problem.mu_r is None else "globalRollingFrictionContact"
    text += numbers(problem.mu) + ("" if problem.mu_r is None else numbers(problem.mu_r))
    path = os.path.join(folder, "problem.dat")
    with open(path, "w") as file:
        file.write(text)
    return getattr(sn, reader + "_new_from_filename")(path)


FIRST_ORDER, NEWTON = 1_000_000, 2_000


def solvers(problem):
    """(name, option id, storage, iterations allowed, extra integer options) of the solvers that take the problem."""
    full = {sn.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION: sn.SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL}
    each, tenth = ({**full, sn.SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY: k} for k in (1, 10))
    id = lambda name: getattr(sn, "SICONOS_" + name)
    small = problem.kind.startswith("local") and len(problem.q) <= DENSE_LIMIT
    if problem.kind == "local" and problem.dim == 3:
        table = [
            ("NSGS", "FRICTION_3D_NSGS", "block", FIRST_ORDER, {}), ("NSGS/full-error", "FRICTION_3D_NSGS", "block", FIRST_ORDER, each),
            ("NSGS/full-10", "FRICTION_3D_NSGS", "block", FIRST_ORDER, tenth), ("ADMM", "FRICTION_3D_ADMM", "block", FIRST_ORDER, {}),
            ("PROX", "FRICTION_3D_PROX", "block", NEWTON, {}), ("NSN_AC", "FRICTION_3D_NSN_AC", "block", NEWTON, {}),
            ("NSN_FB", "FRICTION_3D_NSN_FB", "block", NEWTON, {}), ("VI_EG", "FRICTION_3D_VI_EG", "block", FIRST_ORDER, {}),
        ]
    elif problem.kind == "local" and problem.dim == 2:
        table = [("NSGS", "FRICTION_2D_NSGS", "block", FIRST_ORDER, {})]
        if small:
            table += [(f"{name}/dense", f"FRICTION_2D_{name}", "dense", FIRST_ORDER, {}) for name in ("NSGS", "CPG", "LEMKE")]
        if problem.nc <= 6:
            table.append(("ENUM/dense", "FRICTION_2D_ENUM", "dense", FIRST_ORDER, {}))
    elif problem.kind == "local_rolling":
        table = [(name, f"ROLLING_FRICTION_3D_{name}", "dense", FIRST_ORDER, {}) for name in ("NSGS", "ADMM")]
    elif problem.kind == "global" and problem.dim == 3:
        names = [("ADMM", FIRST_ORDER), ("NSGS_WR", FIRST_ORDER), ("NSGS", FIRST_ORDER), ("NSN_AC", NEWTON), ("NSN_AC_WR", NEWTON),
                 ("VI_EG", FIRST_ORDER)]
        table = [(name, f"GLOBAL_FRICTION_3D_{name}", "sparse", budget, {}) for name, budget in names]
    elif problem.kind == "global_rolling":
        table = [("NSGS_WR", "GLOBAL_ROLLING_FRICTION_3D_NSGS_WR", "sparse", FIRST_ORDER, {})]
    else:
        table = []
    return [(name, id(option), storage, budget, extra) for name, option, storage, budget, extra in table]


def measure(problem, solver, tolerance, limit, pipe):
    """Runs in a process of its own: `(milliseconds, rel, iterations)` into the pipe."""
    _, option, storage, budget, extra = solver
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    is_local = problem.kind.startswith("local")
    driver = {"local": sn.fc3d_driver if problem.dim == 3 else sn.fc2d_driver, "local_rolling": sn.rolling_fc3d_driver,
              "global": sn.gfc3d_driver, "global_rolling": sn.g_rolling_fc3d_driver}[problem.kind]
    rows = len(problem.q if is_local else problem.b)
    read = []
    pipe.send("starts")

    def call(asked):
        # a global problem keeps the factors of M from call to call: read anew, so that each call pays for its assembly
        if not (is_local and read):
            with tempfile.TemporaryDirectory() as folder:
                read[:] = [load(problem, storage, folder)]
        data = read[0]
        options = sn.SolverOptions(option)
        options.dparam[sn.SICONOS_DPARAM_TOL] = asked
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = budget
        for key, value in extra.items():
            options.iparam[key] = value
        r, u, v = np.zeros(rows), np.zeros(rows), np.zeros(0 if is_local else len(problem.f))
        arguments = (data, r, u, options) if is_local else (data, r, u, v, options)
        start = time.process_time()
        driver(*arguments)
        return time.process_time() - start, problem.rel(r, v), int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE])

    seconds, rel, iterations = call(tolerance)
    asked = tolerance
    if tolerance < rel < 10.0 * tolerance:
        asked = tolerance / 10.0
        seconds, rel, iterations = call(asked)
    if not rel <= tolerance:
        pipe.send(None)
        return
    pipe.send((1e3 * seconds, rel, iterations))
    repeats = 2 if seconds > 0.02 else min(200, int(0.1 / max(seconds, 1e-6)))
    if seconds < limit / 5.0:
        best = min(call(asked)[0] for _ in range(repeats))
        pipe.send((1e3 * min(best, seconds), rel, iterations))
    pipe.send(None)


def run(problem, solver, tolerance, limit):
    """The last message of a measuring process that has neither died nor run past the limit before it."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=measure, args=(problem, solver, tolerance, limit, theirs))
    process.start()
    theirs.close()
    answer = None
    try:
        # reading and repeating may take a few seconds more
        while ours.poll(limit + 5.0):
            message = ours.recv()
            if message is None:
                break
            answer = answer if message == "starts" else message
    except EOFError:
        pass
    process.kill()
    process.join()
    return answer


def table(lines):
    """Markdown: the best solver of each problem at both tolerances, and the default NSGS."""
    text = "| problem | kind | nc | best 1e-4 | ms | best 1e-8 | ms | NSGS 1e-4 ms |\n|-|-|-|-|-|-|-|-|\n"
    names = list(dict.fromkeys((line[1], line[2], line[0]) for line in lines))
    for kind, nc, name in sorted(names, key=lambda key: (key[1], key[2])):
        cells = [name, kind, str(nc)]
        for tolerance in (1e-4, 1e-8):
            found = [(line[5], line[4]) for line in lines if line[0] == name and line[3] == tolerance]
            time_ms, solver = min(found, default=(math.nan, "none"))
            cells += [solver, f"{time_ms:.4g}"]
        default = [line[5] for line in lines if line[0] == name and line[3] == 1e-4 and line[4] in ("NSGS", "NSGS_WR")]
        text += "| " + " | ".join(cells + [f"{min(default, default=math.nan):.4g}"]) + " |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", default="siconos.csv")
    parser.add_argument("--table", help="a Markdown table of the best solver of each problem")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each solver and tolerance")
    parser.add_argument("--only", default="", help="problems whose name holds this text")
    arguments = parser.parse_args()
    files = sorted(path for path in arguments.folder.glob("*.hdf5") if arguments.only in path.stem)
    lines = []
    with open(arguments.out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["problem", "kind", "nc", "tol", "solver", "time_ms", "rel", "iterations"])
        for path in files:
            problem = Problem(path)
            if problem.nc == 0:
                continue
            kind = f"{problem.kind} {problem.dim}"
            failed = set()
            for tolerance in (1e-4, 1e-8):
                for solver in solvers(problem):
                    # what has not reached the looser tolerance is not asked for the tighter one
                    answer = None if solver[0] in failed else run(problem, solver, tolerance, arguments.limit)
                    if answer is None:
                        failed.add(solver[0])
                        continue
                    time_ms, rel, iterations = answer
                    lines.append((problem.name, kind, problem.nc, tolerance, solver[0], time_ms))
                    writer.writerow([*lines[-1][:5], f"{time_ms:.6g}", f"{rel:.3e}", iterations])
                    file.flush()
    if arguments.table:
        pathlib.Path(arguments.table).write_text(table(lines))


if __name__ == "__main__":
    main()
