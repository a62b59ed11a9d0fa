# SPDX-License-Identifier: BSD-3-Clause
"""The documentation site: `sphinx-build -W docs build/site`.

The pages are the Markdown files of this folder and of the repository's root. The pages of kernels
and of commands are generated, from what the kernels declare and from --help.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from contextlib import redirect_stdout, suppress
from pathlib import Path

from sphinx.application import Sphinx

from haloscope import __version__
from haloscope.cli import parse
from haloscope.commands import COMMANDS
from haloscope.commands.reference.describe import allowed
from haloscope.records import kernels
from haloscope.run.prepare import halobench
from haloscope.run.prepare.halobench import Kernel

os.environ["COLUMNS"] = "80"  # the width of --help

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "docs" / "generated"
ROOT_PAGES = ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "RELEASING")

project = "haloscope"
version = release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 4
nitpicky = True
smartquotes = False  # options begin with --
exclude_patterns = ["examples/**/README.md"]
html_theme = "furo"
html_title = f"haloscope {__version__}"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False


def setup(app: Sphinx) -> None:
    """Generate pages before any is read, and send links to pages of the root to their copies."""
    app.connect("builder-inited", generate)
    app.connect("source-read", to_generated)


def generate(_: Sphinx) -> None:
    """Write the pages of kernels, commands, and the repository's root."""
    shutil.rmtree(GENERATED, ignore_errors=True)
    for name in kernels.declared():
        write(f"kernel-{name}", kernel_page(halobench.describe(name)))
    write("kernels", pages_of("Parameters and results of kernels", "kernel-*"))
    for name, summary in COMMANDS.items():
        write(f"command-{name}", command_page(name, summary))
    write("commands", pages_of("Commands", "command-*"))
    for name in ROOT_PAGES:
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        text = re.sub(r"\]\((?!https?:)(?!docs/)([^)#]+)", r"](../../\1", text)
        text = re.sub(r"\]\(docs/", "](../", text)
        write(name.lower(), between_pages(text, "../../", ""))


def write(name: str, text: str) -> None:
    """Write a generated page."""
    GENERATED.mkdir(exist_ok=True)
    (GENERATED / f"{name}.md").write_text(text, encoding="utf-8")


def pages_of(title: str, pattern: str) -> str:
    """A page that lists others."""
    return f"# {title}\n\n```{{toctree}}\n:glob:\n:maxdepth: 1\n\n{pattern}\n```\n"


def to_generated(_: Sphinx, page: str, text: list[str]) -> None:
    """Change links to pages of the root in a page of docs/."""
    up = "../" * (page.count("/") + 1)
    text[0] = between_pages(text[0], up, f"{up.removeprefix('../')}generated/")


def between_pages(text: str, root: str, generated: str) -> str:
    """Replace links to Markdown files of the root by links to their generated copies."""
    for name in ROOT_PAGES:
        text = text.replace(f"]({root}{name}.md", f"]({generated}{name.lower()}.md")
    return text


def kernel_page(kernel: Kernel) -> str:
    """What `haloscope describe` prints, as tables."""
    lines = [f"# {kernel.name}", "", f"{kernel.summary}.", ""]
    lines += [f"Source: {kernel.paper}.", ""] if kernel.paper else []
    head = "| parameter | default | values | meaning |"
    lines += ["## Parameters", "", head, "|---|---|---|---|"]
    for one in kernel.parameters:
        values = " ".join(part for part in (allowed(one), one.unit and f"({one.unit})") if part)
        lines.append(row(f"`{one.name}`", f"`{one.default}`", values, one.help))
    for title, results in (("Results", kernel.results), ("Results per size", kernel.point_results)):
        if results:
            lines += ["", f"## {title}", "", "| result | unit | meaning |", "|---|---|---|"]
            lines += [row(f"`{one.name}`", one.unit or "", one.help) for one in results]
    return "\n".join([*lines, ""])


def row(*cells: str) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def command_page(name: str, summary: str) -> str:
    """What --help prints, of a command and of its subcommands."""
    shown = [help_of(name)]
    if found := re.search(r"\{([a-z,-]+)\}", shown[0].partition("\n\n")[0]):
        shown += [help_of(name, sub) for sub in found[1].split(",")]
    blocks = "\n\n".join(f"```text\n{text}```" for text in shown)
    return f"# haloscope {name}\n\n{summary[0].upper()}{summary[1:]}.\n\n{blocks}\n"


def help_of(*words: str) -> str:
    """The help of a command, at a width that a page shows whole."""
    out = io.StringIO()
    with redirect_stdout(out), suppress(SystemExit):
        parse([*words, "--help"])
    return out.getvalue()
