# SPDX-License-Identifier: BSD-3-Clause
"""Mutate the core at places drawn at random (by cosmic-ray), and test each mutant.

python tests/mutants/sample.py [MODULE ...] [--number 60] [--seed 1]

A place is a comparison, a number, a condition, a decorator ...; one of its mutants is drawn. The
tests of a mutant are those that import its module, or a module that imports it, and those of its
room. tests/mutants/equivalent.txt lists changes that alter no result, with the reason: they are
not drawn. The exit status is 1 where more than --alive mutants are not caught.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import itertools
import os
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from filelock import FileLock
from mutant import CAUGHT, FAILS, SURVIVED, UNFIT, Mutant
from suites import ROOT, SCRATCH, PythonTests

CORE = ("stats", "models", "records", "study", "analysis")
OPERATORS = re.compile(
    "core/("
    "AddNot|ExceptionReplacer|NumberReplacer|RemoveDecorator|ZeroIterationForLoop"
    "|Replace(AndWithOr|OrWithAnd|TrueWithFalse|FalseWithTrue|BreakWithContinue|ContinueWithBreak)"
    "|ReplaceUnaryOperator_(USub_UAdd|Delete_Not)"
    "|ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Add|Pow_Mul"
    "|BitOr_BitAnd|BitAnd_BitOr)"
    "|ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_(LtE|GtE)|LtE_(Lt|Gt)|Gt_(GtE|LtE)"
    "|GtE_(Gt|Lt)|Is_IsNot|IsNot_Is|In_NotIn|NotIn_In))"
)
"""Those whose mutants look like mistakes: the boundary or the negation of a condition, not `<<`."""
EQUIVALENT = Path(__file__).parent / "equivalent.txt"
OPTIONS = (
    "-m",
    "not lab and not toolchains and not latex and not minutes and not long",
    "--hypothesis-seed=0",
)
"""Of pytest: tests that take no more than Python, the same in each run."""
LIMIT_S = 1800.0
"""Seconds that the tests of a mutant may take: many times what they take."""


def places(path: Path) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """The places of a module: each with its mutants, as cosmic-ray's operator and occurrence."""
    tree = get_ast(path.read_text(encoding="utf-8"))
    nodes = [*ast_nodes(tree)]
    found: dict[tuple[str, tuple[int, int]], list[tuple[str, int]]] = defaultdict(list)
    for name in sorted(filter(OPERATORS.fullmatch, operator_names())):
        operator, occurrence = get_operator(name)(), 0
        for node in nodes:
            for start, _ in operator.mutation_positions(node):
                found[name.split("_")[0], start].append((name, occurrence))
                occurrence += 1
    yield from ((f"{path.relative_to(ROOT)} {place}", there) for place, there in found.items())


def program(text: str) -> str:
    """A module without what does not run: annotations of functions, imports for types."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.test, node.body = ast.Constant(False), [ast.Pass()]
    return ast.dump(tree)


def drawn(path: Path, mutants: Sequence[tuple[str, int]]) -> Mutant | None:
    """The first mutant of a place that changes what the module does; None where none does."""
    whole = path.read_text(encoding="utf-8")
    for name, occurrence in mutants:
        mutated = mutate_code(whole, get_operator(name)(), occurrence)
        try:
            if mutated is None or program(mutated) == program(whole):
                continue
        except SyntaxError:
            continue
        lines = whole.splitlines(), mutated.splitlines()
        at = next(n for n, (a, b) in enumerate(zip(*lines, strict=False)) if a != b)
        diff = [f"{line[0]} {line[1:].strip()}" for line in difflib.ndiff(*lines)]
        before, after = (
            " ".join(line[2:] for line in diff if line[0] == sign and line[2:]) for sign in "-+"
        )
        change = f"{before}  ->  {after}"
        file = str(path.relative_to(ROOT))
        if not any(re.search(one, f"{file}: {change}") for one in equivalent()):
            return Mutant(path.parent.name, f"{file}:{at + 1}", file, whole, mutated, change, "")
    return None


@cache
def equivalent() -> list[str]:
    """Changes that alter no result, as regular expressions."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def imports(path: Path) -> set[str]:
    """The modules of haloscope that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return {name for name in names if name.startswith("haloscope.")}


def tests_of(path: Path) -> list[str]:
    """Test files of a module, the nearest first: named after it, importing it, of its room.

    Then those that import what imports it; the report's for the analysis, which they find by name.
    """
    source, tests = ROOT / "src", ROOT / "tests"
    name, own = module(path), path.parent.name
    users = {module(one) for one in (source / "haloscope").rglob("*.py") if name in imports(one)}
    files = [
        one
        for room in dict.fromkeys((own, *CORE, "report", "topics"))
        for one in sorted((tests / room).glob("test_*.py"))
    ]
    ordered = [one for one in files if path.stem in one.stem and one.parent.name in (own, "report")]
    ordered += [one for one in sorted(tests.rglob("test_*.py")) if name in imports(one)]
    ordered += [one for one in files if one.parent.name == own]
    ordered += [one for one in files if users & imports(one)]
    ordered += [one for one in files if one.parent.name == "report" and own == "analysis"]
    return [str(one.relative_to(ROOT)) for one in dict.fromkeys(ordered)]


def module(path: Path) -> str:
    """The name that a file of src is imported by."""
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)


def sample(paths: Sequence[Path], number: int, seed: int) -> list[Mutant]:
    """Mutants at places drawn with equal probability, each file independent of the others."""
    drawings = [
        (random.Random(f"{seed} {name}"), path, mutants)
        for path in paths
        for name, mutants in places(path)
    ]
    drawings.sort(key=lambda one: one[0].random())
    made = (
        drawn(path, random_.sample(mutants, len(mutants))) for random_, path, mutants in drawings
    )
    return list(itertools.islice((one for one in made if one), number))


def main() -> int:
    """Draw mutants and test each; 0 if at most as many as allowed are alive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", type=Path, metavar="MODULE", help="files or folders")
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alive", type=int, default=3, help="how many may be alive")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="side by side")
    asked = parser.parse_args()
    given = asked.modules or [ROOT / "src" / "haloscope" / room for room in CORE]
    folders = [path.resolve() for path in given]
    files = [file for one in folders for file in ([one] if one.is_file() else one.rglob("*.py"))]
    drawn_ = sample(sorted(files), asked.number, asked.seed)
    tests = {one.file: tests_of(ROOT / one.file) for one in drawn_}
    mutants = [replace(one, test="\n".join([*OPTIONS, *tests[one.file]])) for one in drawn_]
    SCRATCH.mkdir(parents=True, exist_ok=True)
    with FileLock(SCRATCH / ".lock"):
        suite = PythonTests(asked.jobs, LIMIT_S)
        verdicts = []
        for verdict in suite.verdicts(mutants):
            verdicts.append(verdict)
            print(f"{verdict.word:12}  {verdict.mutant.id}  {verdict.mutant.why}", flush=True)
        by = [one.note for one in verdicts if one.word == CAUGHT and "::" in one.note]
        failing = suite.failing([replace(mutants[0], test=test) for test in by])
    for name, why in failing.items():
        print(f"{FAILS:12}  {name}: {why}")
    alive, unfit = (sum(one.word == word for one in verdicts) for word in (SURVIVED, UNFIT))
    summary = f"{alive} alive, {unfit} not tried; at most {asked.alive} may be"
    print(f"{len(mutants)} mutants, seed {asked.seed}: {summary}")
    return 0 if mutants and not failing and alive + unfit <= asked.alive else 1


if __name__ == "__main__":
    sys.exit(main())
