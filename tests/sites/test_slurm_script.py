# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that Slurm is given: all of one, and those of a user's own template."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import far_site
import pytest

from haloscope.errors import UserError
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.sites.schema import BatchSite
from haloscope.sites.script import script

JOB = replace(
    far_site.JOB,
    command=["drive", "/R/a folder", "--nodes", "2", "--minutes", "90"],
    after="7",
    variables=("OWN_DATA",),
)
SITE = far_site.site(
    "slurm",
    "srun",
    mpi="pmix",
    qos="premium",
    constraint="[rack1|rack2]",
    reservation="days",
    gpus=4,
    modules=["gcc/12.2.0", "openmpi"],
    scratch="/local/my scratch",
    environment={"SLURM_CONF": "/etc/slurm/far.conf"},
)
WHOLE = f"""\
#!/bin/bash
#SBATCH --job-name=haloscope-0123456789ab
#SBATCH --comment=haloscope:ba9876543210
#SBATCH --nodes=2
#SBATCH --time=90
#SBATCH --exclusive
#SBATCH --partition=short
#SBATCH --account=m17
#SBATCH --qos=premium
#SBATCH --constraint=[rack1|rack2]
#SBATCH --reservation=days
#SBATCH --gpus-per-node=4
#SBATCH --dependency=singleton,afterok:7
#SBATCH --kill-on-invalid-dep=yes
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=/R/jobs/ba9876543210.log
#SBATCH --signal=B:USR1@120
# A job of haloscope: it measures what is left of a study, launch by launch, on its own nodes.
# Whatever ends it, it can be submitted again: what has a record is not measured twice.
module load gcc/12.2.0 openmpi || exit 1
unset PYTHONPATH PYTHONHOME  # modules set them for another Python
export HALOSCOPE_CACHE=/shared/cache
export PYTHONPATH=/its/modules
export OWN_DATA='/some where'
export SLURM_CONF=/etc/slurm/far.conf
export TMPDIR='/local/my scratch'
cd '/home/me here' || exit 1
exec {sys.executable} -P -m haloscope drive '/R/a folder' --nodes 2 --minutes 90
"""


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of the submitting shell, some of which are passed to the job."""
    for name in ("HALOSCOPE_PROGRAMS", "SIMGRID_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HALOSCOPE_CACHE", "/shared/cache")
    monkeypatch.setenv("PYTHONPATH", "/its/modules")
    monkeypatch.setenv("OWN_DATA", "/some where")
    monkeypatch.setenv("SBATCH_QOS", "debug")


def written(site: BatchSite) -> str:
    return script(Slurm(site.environment), site, JOB, Path("/home/me here"))


def test_a_script_requests_everything_in_the_site_file() -> None:
    assert written(SITE) == WHOLE


def test_a_log_has_its_documented_path_for_any_folder_name() -> None:
    """As sbatch takes its lines apart: by quotes; %j would be the job's id."""
    job = replace(JOB, log=Path("/R/it's a 50%jump/1.log"))

    text = script(Slurm({}), SITE, job, Path("/home"))

    (line,) = (line for line in text.splitlines() if "--output" in line)
    assert shlex.split(line)[1] == "--output=/R/it's a 50%%jump/1.log"


TEMPLATE = """\
#!/bin/sh
{% for option in options %}{{ directive }} {{ option }}
{% endfor %}#SBATCH --mail-type=END
. /etc/profile
{% if modules %}module purge
module load {{ modules | join(" ") }}
{% endif %}{% for name, value in variables.items() %}{{ name }}={{ value }}; export {{ name }}
{% endfor %}cd {{ folder }}
{% if log %}exec >>{{ log }} 2>&1
{% endif %}{{ command | join(" ") }}
"""


def test_a_user_template_can_use_every_variable(tmp_path: Path) -> None:
    """It contains the parts of the built-in script in the user's order, with additions."""
    (tmp_path / "job.jinja").write_text(TEMPLATE)

    text = written(SITE.model_copy(update={"template": str(tmp_path / "job.jinja")}))

    ours = [line for line in WHOLE.splitlines() if line.startswith("#SBATCH")]
    assert text.splitlines() == [
        "#!/bin/sh",
        *ours,
        "#SBATCH --mail-type=END",
        ". /etc/profile",
        "module purge",
        "module load gcc/12.2.0 openmpi",
        "HALOSCOPE_CACHE=/shared/cache; export HALOSCOPE_CACHE",
        "PYTHONPATH=/its/modules; export PYTHONPATH",
        "OWN_DATA='/some where'; export OWN_DATA",
        "SLURM_CONF=/etc/slurm/far.conf; export SLURM_CONF",
        "TMPDIR='/local/my scratch'; export TMPDIR",
        "cd '/home/me here'",
        f"{sys.executable} -P -m haloscope drive '/R/a folder' --nodes 2 --minutes 90",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [("{{ partition }}", "'partition' is undefined"), ("{% for %}", "Expected an expression")],
)
def test_an_invalid_template_is_refused_with_its_site(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "job.jinja").write_text(text)
    own = SITE.model_copy(update={"template": str(tmp_path / "job.jinja")})

    with pytest.raises(UserError, match="site far: template") as caught:
        written(own)

    assert said in str(caught.value.problems[0])
