# SPDX-License-Identifier: BSD-3-Clause
"""Realistic records of kernels over three-dimensional grids of ranks: Jacobi's sweeps, sums."""

from __future__ import annotations

import random
from typing import Any

from recorded import Raw, record

BYTES_PER_UPDATE, FLOPS_PER_UPDATE = 24.0, 6.0


def jacobi(
    grid: tuple[int, int, int] = (1, 1, 1), *, launch: int = 0, edge: int = 200, **given: Any
) -> Raw:
    """One launch of eight sweeps of edge³ points a rank: 540 million updates a second alone.

    On several ranks, a tenth less each, of which ghosts take a twentieth of the time.
    """
    ranks = grid[0] * grid[1] * grid[2]
    params = {"L": edge, "topology": "x".join(map(str, grid)), **given.pop("params", {})}
    updates = 8.0 * ranks * edge**3
    noise = random.Random(f"jacobi {grid} {launch} {params}").uniform(1, 1.02)
    mlups = 540.0 * ranks * (0.9 if ranks > 1 else 1.0) / noise
    seconds = updates / (1e6 * mlups)
    shares = {"sweep": 0.9, "exchange": 0.05} if ranks > 1 else {"sweep": 0.98}
    phases = [
        {
            "name": name,
            "calls": 8,
            "time_s": dict.fromkeys(("min", "mean", "max"), share * seconds),
            "bytes": BYTES_PER_UPDATE * updates if name == "sweep" else 0.0,
            "flops": FLOPS_PER_UPDATE * updates if name == "sweep" else 0.0,
            "model_s": None,
        }
        for name, share in shares.items()
    ]
    size = "x".join(str(edge * along) for along in grid)
    cut = sum(along > 1 for along in grid)
    found = {
        **{"mlups": mlups, "sweeps": 8, "size": size, "grid": params["topology"], "depth": 1},
        **{"k": 2 * cut, "c_bytes": 2 * 2 * 8 * cut * edge**2, "fingerprint": "0123456789abcdef"},
        **{"error_max": 1e-3, "error_max_bound": 1e-2, "residual_max": 1e-3},
    }
    changes = {"phases": phases, "result": found, **given}
    return record("jacobi3d", params, [seconds] * 3, ranks=ranks, launch=launch, **changes)


def sum3d(distribution: str = "balanced", *, ranks: int = 2, launch: int = 0, **given: Any) -> Raw:
    """One launch of the sum of two arrays; other distributions than the balanced take longer."""
    noise = random.Random(f"sum3d {distribution} {ranks} {launch}").uniform(1, 1.02)
    time = 0.6 / ranks * (1.0 if distribution == "balanced" else 1.1) * noise
    params = {"size": "240x100x100", "topology": f"{ranks}x1x1", "distribution": distribution}
    each = [2_400_000 // ranks] * ranks
    found = {"cycle_s": time, "elements": 2_400_000, "elements_per_rank": each}
    changes = {"result": found, **given}
    return record("sum3d", params, [time], ranks=ranks, launch=launch, **changes)
