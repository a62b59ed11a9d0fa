# SPDX-License-Identifier: BSD-3-Clause
"""The Spack package: spack repo add packaging/spack; spack install haloscope."""

from pathlib import Path

from spack.package import *


class Haloscope(PythonPackage):
    """Measure the communication performance of parallel (MPI) programs."""

    git = Path(__file__).resolve().parents[4].as_uri()  # the checkout that this file is part of

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("simgrid", default=False, description="Simulate clusters")
    variant("fftw", default=True, description="Measure Fourier transforms")

    depends_on("c", type="build")
    depends_on("cxx", type=("build", "run"))  # halobench is compiled when it is first used

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.27:", type="build")

    depends_on("cmake@3.25:", type="run")
    depends_on("ninja@1.11:", type="run")
    depends_on("mpi", type="run")
    depends_on("simgrid+smpi", type="run", when="+simgrid")
    depends_on("fftw@3 precision=double", type="run", when="+fftw")

    depends_on("py-clustershell@1.9:", type="run")
    depends_on("py-filelock@3.13:", type="run")
    depends_on("py-jinja2@3.1:", type="run")
    depends_on("py-matplotlib@3.8:", type="run")
    depends_on("py-numpy@1.26:", type="run")
    depends_on("py-platformdirs@4:", type="run")
    depends_on("py-psutil@5.9:", type="run")
    depends_on("py-pydantic@2.7:", type="run")
    depends_on("py-pymetis@2025.2:", type="run")
    depends_on("py-rich@13.7:", type="run")
    depends_on("py-ruptures@1.1.10:", type="run", when="^python@:3.13")
    depends_on("py-scipy@1.12:", type="run")
    depends_on("py-shtab@1.13:", type="run")
    depends_on("py-tomli-w@1:", type="run")
