# SPDX-License-Identifier: BSD-3-Clause
"""Who may know whom: one rule a room of src/haloscope, for all of its modules."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from imports import SOURCE, imported, imports_of, rooms_known_to

from haloscope.commands import COMMANDS, ROOMS, module_of

TESTS = Path(__file__).parents[1]
ANYONE = {"errors", "grouped", "quantities", "paths", "toml", "verbosity", "keys", "layout"}
"""What rooms on the lowest floor may know, too."""
FLOORS = (
    {*ANYONE, "host", "stats"},
    {"models", "papers", "toolchains", "sites"},
    {"study", "programs"},
    {"records", "clusters"},
    {"run", "analysis", "lab", "profiling", "outputs", "history"},
    {"findings"},
    {"topics"},
    {"report", "predict", "advice"},
    {"commands"},
)
"""Rooms, the lowest first: each may know those below it, and none on its own floor."""
OUTSIDE = {"os", "shutil", "subprocess", "tempfile", "socket", "json", "csv", "tomllib", "psutil"}
"""Libraries that reach files, processes and this machine."""


def allowed(room: str) -> set[str]:
    """The rooms that a room may know."""
    floor = next(index for index, rooms in enumerate(FLOORS) if room in rooms)
    return {room} | (ANYONE if floor == 0 else set().union(*FLOORS[:floor]))


@pytest.mark.parametrize("room", sorted(set().union(*FLOORS) - ANYONE))
def test_a_package_imports_only_lower_packages(room: str) -> None:
    modules = sorted((SOURCE / room).rglob("*.py"))

    unknown = {
        f"{path.relative_to(SOURCE)} imports {other}"
        for path in modules
        for other in rooms_known_to(path) - allowed(room)
    }

    assert modules
    assert not unknown


@pytest.mark.parametrize("module", sorted(ANYONE))
def test_common_modules_import_no_package(module: str) -> None:
    assert rooms_known_to(SOURCE / f"{module}.py") <= ANYONE


BY_NAME = {"cli.py", "run/places/places.py"}
"""The files that import modules by name: those of commands, and those of kinds of places."""


def test_modules_are_imported_by_name_where_a_list_has_them_alone() -> None:
    importing = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(r"import_module\(|__import__\(", path.read_text(encoding="utf-8"))
    }

    assert importing == BY_NAME


def test_the_top_level_has_only_common_modules_and_the_command_line() -> None:
    top_level = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}

    assert top_level == ANYONE | {"cli", "__main__"}
    assert rooms == set().union(*FLOORS) - ANYONE


def test_a_package_has_at_most_twelve_modules() -> None:
    paths = [*SOURCE.rglob("*.py"), *TESTS.rglob("*.py")]
    files = Counter(path.parent for path in paths if path.name != "__init__.py")

    assert {str(room) for room in files if files[room] > 12} == set()


def test_every_command_is_in_one_package() -> None:
    assert sorted(name for names in ROOMS.values() for name in names.split()) == sorted(COMMANDS)


def test_commands_import_no_other_command() -> None:
    knowing = {
        f"{name} imports {other}"
        for name in COMMANDS
        for other in imported(SOURCE.parent / f"{module_of(name).replace('.', '/')}.py")
        if other in {module_of(one) for one in COMMANDS}
    }

    assert not knowing


LATE = {
    "__init__.py": "haloscope.records pathlib",
    "advice/counted_bytes.py": "chszlablib",
    "advice/measuring.py": "haloscope.advice",
    "sites/script.py": "jinja2 jinja2.sandbox",
    "clusters/other_jobs/occupied.py": "haloscope.clusters.other_jobs.others numpy",
    "commands/predictions/advise.py": "haloscope.commands.predictions.advice_page "
    "haloscope.commands.predictions.traffic_advice",
    "cli.py": "haloscope.host",
    "commands/machines/profile.py": "haloscope.report.draw.figures",
    "commands/measuring/launched.py": "haloscope.report.draw.figures.panels",
    "commands/measuring/once.py": "haloscope.commands.measuring.one_case",
    "commands/measuring/one_case.py": (
        "haloscope.commands.measuring.launched haloscope.run.run_view"
    ),
    "commands/measuring/run.py": "haloscope.report.writing",
    "host/machine.py": "psutil",
    "models/scaling_law.py": "scipy.optimize",
    "models/split_phase.py": "scipy.optimize",
    "records/rows.py": "polars",
    "report/record_view.py": "haloscope.analysis.grouping haloscope.analysis.validation.trust "
    "haloscope.findings.badge",
    "report/writing.py": "haloscope.report.draw.figures.panels",
    "run/campaign/campaign.py": "haloscope.run.campaign.stopping",
    "run/jobs/submission.py": "haloscope.stats.enough",
    "run/places/here.py": "haloscope.clusters haloscope.clusters.schema",
    "run/places/places.py": "haloscope.clusters haloscope.run.places.batched "
    "haloscope.run.places.simulated haloscope.sites",
    "run/prepare/kernels.py": "haloscope.programs",
    "run/prepare/matrices.py": "filelock numpy pymetis",
    "run/prepare/matrix_market.py": "numpy scipy.io scipy.sparse",
    "run/prepare/workbench.py": "haloscope.programs",
    "run/progress.py": "rich.progress",
    "run/runners/local.py": "haloscope.clusters.simgrid.files haloscope.programs.output "
    "haloscope.run.runners.external haloscope.sites.schedulers.schedulers "
    "haloscope.sites.schedulers.slurm",
    "stats/allocations.py": "scipy.special",
    "stats/change_points.py": "ruptures",
    "stats/estimates.py": "scipy.special",
    "stats/two_samples.py": "scipy.stats",
    "study/known_iterations.py": "haloscope.papers",
    "toolchains/build.py": "cmake filelock ninja",
    "toolchains/library.py": "filelock",
}
"""Imported by the functions that use it: what few command lines need and takes long to import."""


def test_only_heavy_and_rarely_needed_imports_are_local() -> None:
    late: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        functions = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for node in (node for node in functions if isinstance(node, ast.FunctionDef)):
            inside = set(imports_of(node))
            if inside:
                late.setdefault(str(path.relative_to(SOURCE)), set()).update(inside)

    assert {path: " ".join(sorted(names)) for path, names in late.items()} == LATE


PURE = ("stats", "models", "analysis", "findings", "topics")
EXCEPT = {"analysis/dossier.py"}  #: reads a result folder for all that stands after it


@pytest.mark.parametrize("room", PURE)
def test_modules_that_compute_do_not_use_files_or_processes(room: str) -> None:
    modules = [
        path
        for path in sorted((SOURCE / room).rglob("*.py"))
        if str(path.relative_to(SOURCE)) not in EXCEPT
    ]

    touching = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in modules
        for name in imported(path, running=True)
        if name.split(".")[0] in OUTSIDE
    }
    reaching = re.compile(r"\b(open|read_text|write_text|read_bytes|write_bytes|iterdir|glob)\(")
    opening = [path.name for path in modules if reaching.search(path.read_text(encoding="utf-8"))]

    assert modules
    assert not touching
    assert not opening


def test_modules_that_plot_do_not_compute() -> None:
    computes = ("scipy", "statistics", "haloscope.stats", "haloscope.analysis", "haloscope.models")
    modules = sorted((SOURCE / "report" / "draw").glob("*.py"))

    computing = {
        f"{path.name}: {name}"
        for path in modules
        for name in imported(path, running=True)
        if name.startswith(computes)
    }

    assert modules
    assert not computing


BESIDE = {"tables": ("figures", "figure"), "figures": ("tables", "table", "notebook")}
"""Modules that tables and figures know nothing of: they share analysis, and stand side by side."""


@pytest.mark.parametrize("kind", sorted(BESIDE))
def test_tables_and_figures_do_not_import_each_other(kind: str) -> None:
    modules = sorted((SOURCE / "topics").glob(f"**/{kind}.py"))

    knowing = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in modules
        for name in imported(path)
        if name.startswith("haloscope.topics.") and {*name.split(".")} & {*BESIDE[kind]}
    }

    assert modules
    assert not knowing


def test_no_two_public_types_share_a_name() -> None:
    """Classes and aliases; the same alias twice, as one of numpy's types, is one meaning."""
    meanings: dict[str, dict[str, str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for name, meaning in _types_of(node):
                meanings.setdefault(name, {}).setdefault(meaning, str(path.relative_to(SOURCE)))

    assert {
        name: list(places.values()) for name, places in meanings.items() if len(places) > 1
    } == {}


def _types_of(node: ast.stmt) -> list[tuple[str, str]]:
    """The name and the text of a public class or alias (a CapWords name at a module's top)."""
    match node:
        case ast.ClassDef(name=name):
            types = [(name, ast.unparse(node))]
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            types = [(name, ast.unparse(value))]
        case _:
            types = []
    return [(name, text) for name, text in types if re.fullmatch(r"[A-Z]+[a-z]\w*", name)]


def test_every_module_docstring_states_its_purpose_in_one_sentence() -> None:
    missing = [
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py"))
        if not re.match(r"\S.*[.:;]", ast.get_docstring(ast.parse(path.read_text())) or "")
    ]

    assert missing == []


def test_batch_systems_are_distinguished_by_capability_not_by_name() -> None:
    inside = SOURCE / "sites" / "schedulers"
    comparing = {
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if not path.is_relative_to(inside)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare | ast.Match)
        and any(_is_scheduler(side) for side in _sides(node))
    }

    assert comparing == set()


def _sides(node: ast.Compare | ast.Match) -> list[ast.expr]:
    return [node.subject] if isinstance(node, ast.Match) else [node.left, *node.comparators]


def _is_scheduler(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "scheduler") or (
        isinstance(node, ast.Attribute) and node.attr == "scheduler"
    )
