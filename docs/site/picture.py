# SPDX-License-Identifier: BSD-3-Clause
"""Make a picture of a report for the documentation, with numbers beside parts of it.

usage: .venv/bin/python docs/site/picture.py results/DIR docs/images/NAME.png [--height 900]
           [--mark SELECTOR ...] [--open SECTION ...]          (needs chromium, pngquant if there)

The report is written anew. --mark puts 1, 2, ... at the elements of CSS selectors.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

SCRIPT = """
<style>
.mark { position: absolute; left: -33px; top: 0; width: 26px; height: 26px; z-index: 9;
  border-radius: 50%%; background: #b5179e; color: white; font: bold 16px/26px sans-serif;
  text-align: center }
body { padding-left: 34px }
</style>
<script>
for (const id of %s) document.getElementById(id).closest("details").open = true;
%s.forEach((selector, number) => {
  const place = document.querySelector(selector), mark = document.createElement("span");
  place.style.position = "relative";
  mark.className = "mark";
  mark.textContent = number + 1;
  if (place.tagName == "TD") mark.style.left = "6px";
  place.prepend(mark);
});
</script>
"""
WIDTH = 1000


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, help="a result folder, or a page in HTML")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--mark", nargs="*", default=[])
    parser.add_argument("--open", nargs="*", default=[])
    options = parser.parse_args()
    page = options.page
    if page.is_dir():
        subprocess.run(["haloscope", "report", str(page)], check=True)
        page = page / "report.html"
    text = page.read_text(encoding="utf-8")
    script = SCRIPT % (json.dumps(options.open), json.dumps(options.mark))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        copy.write_text(text.replace("</body>", f"{script}</body>"), encoding="utf-8")
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = f"--window-size={WIDTH},{options.height}"
        to = f"--screenshot={options.picture.resolve()}"
        subprocess.run([*words, size, to, copy.as_uri()], check=True, stderr=subprocess.DEVNULL)
    if shutil.which("pngquant"):
        replace = ["pngquant", "--force", "--ext", ".png", "64", str(options.picture)]
        subprocess.run(replace, check=True)


if __name__ == "__main__":
    main()
