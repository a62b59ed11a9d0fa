# SPDX-License-Identifier: BSD-3-Clause
import pytest
from recorded import cases, pingpong, star_forest

from haloscope.analysis.context import Context
from haloscope.study.kinds import Options


@pytest.mark.parametrize(
    ("title", "parts"),
    [("Parts of sf_pingpong", ()), ("Parts", ("sf_pingpong",)), ("Parts", ())],
)
def test_a_title_names_a_selected_kernel_once(title: str, parts: tuple[str, ...]) -> None:
    both = cases([star_forest("sf_pingpong"), pingpong()])
    context = Context(options=Options(where={"kernel": "sf_pingpong"}), all_cases=both)

    assert context.title(title, *parts).count("sf_pingpong") == 1
