# SPDX-License-Identifier: BSD-3-Clause
"""What records of a case have in common is held once, and nothing of it is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded import poisson, quick, write_folder

from haloscope.records.log import Sharing, read
from haloscope.records.packed import Packed

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 20)
    | st.floats(0, 1)
    | st.text('ab"\\\\,:{}[] \u00e4', max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abnm"), inner),
    max_leaves=4,
)
KEYS = st.sampled_from(["n", "m", "a b", "case", '"', "\u00e4"])
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def test_equal_values_of_a_case_share_one_object_after_reading(tmp_path: Path) -> None:
    raws = [poisson(64, launch=k) for k in range(3)]
    first, second, third = read(write_folder(tmp_path, raws) / "records.jsonl")

    assert first.machine is second.machine is third.machine
    assert first.params is third.params
    assert first.times_s != second.times_s


def test_equal_phases_of_a_case_are_packed_once_after_reading(tmp_path: Path) -> None:
    raws = [poisson(64, launch=k) for k in range(2)]
    raws[1]["phases"] = raws[0]["phases"]
    first, second = read(write_folder(tmp_path, raws) / "records.jsonl")

    assert isinstance(first.phases, Packed)
    assert first.phases is second.phases
    assert first.phases == raws[0]["phases"]


def test_packed_objects_are_used_like_a_list() -> None:
    objects: list[dict[str, Any]] = [
        {"name": "sweep", "calls": 1},
        {"name": "halo", "times_s": [0.5, 1e-9]},
    ]
    packed = Packed(objects)

    assert [*packed] == objects
    assert (len(packed), packed[1], packed[:1]) == (2, objects[1], objects[:1])
    assert packed == objects
    assert packed == Packed(objects)
    assert packed != objects[:1]


def test_records_are_read_back_unchanged(tmp_path: Path) -> None:
    raws = [*quick(3), *quick(2)]

    read_again = read(write_folder(tmp_path, raws) / "records.jsonl")

    assert [record.raw for record in read_again] == json.loads(json.dumps(raws))


def lines(*raws: Any, **how: Any) -> list[bytes]:
    return [json.dumps(raw, **how).encode() + b"\n" for raw in raws]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_values_of_different_types_are_not_shared(separators: tuple[str, str]) -> None:
    sharing = Sharing()
    values = [1, 1.0, True, "1", 12, 1]
    written = lines(*({"case": "ab", "n": n, "m": n} for n in values), separators=separators)

    read_again = [sharing.read(line) for line in written]

    assert [repr(one["n"]) for one in read_again] == [repr(value) for value in values]
    assert [repr(one["m"]) for one in read_again] == [repr(value) for value in values]


def test_keys_that_come_and_go_are_read_correctly() -> None:
    sharing = Sharing()
    raws = [{"case": "ab", "n": 1, "m": [2]}, {"case": "ab", "m": [2]}, {"m": [2], "n": 1}, {}]

    assert [sharing.read(line) for line in lines(*raws, *raws)] == [*raws, *raws]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"case":"ab","n":1,"n":1}', "'n'"),
        (b'{"case":"ab","n":{"m":1,"m":1}}', "'m'"),
        (b'{"case":"ab","n":NaN}', "NaN "),
        (b'{"case":"ab","n":1e999}', "too large"),
        (b'{"case":"ab","n":1}{', "not a JSON object"),
        (b'{"case":"ab","n":1,"s":"}","m":{"a":1}', "not a JSON object"),
        (b'{"case":"ab","n":1,}', "not a JSON object"),
        (b'{"case":"ab","n":1', "not a JSON object"),
        (b'{"case":"ab","n":1]', "not a JSON object"),
        (b'["case","ab"]', "not a JSON object"),
        (b'{"case":"ab","n":' + b"[" * 60 + b"]" * 60 + b"}", "nested too deeply"),
        (b'{"case":"ab","n":"\xff"}', "not UTF-8"),
    ],
)
def test_a_non_object_line_after_an_object_is_reported(line: bytes, what: str) -> None:
    sharing = Sharing()
    sharing.read(b'{"case":"ab","n":1}\n')

    with pytest.raises(ValueError, match=what):
        sharing.read(line)


@settings(
    derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(raws=st.lists(OBJECTS, min_size=2, max_size=5), compact=st.booleans())
def test_all_objects_are_parsed_like_json(raws: list[Any], compact: bool) -> None:
    sharing = Sharing()
    separators = (",", ":") if compact else None

    for line in lines(*raws, separators=separators):
        assert repr(sharing.read(line)) == repr(json.loads(line))


@pytest.mark.parametrize("digits", range(1, 320, 3))
@pytest.mark.parametrize("exponent", [0, 8, 9, 59, 98, 108, 300, 308])
def test_infinite_numbers_are_rejected(digits: int, exponent: int) -> None:
    """The size of a number is limited by its digits, its exponent, or both."""
    text = "9" * digits + (f"e{exponent}" if exponent else "")
    line = f'{{"case":"ab","n":{text}}}'.encode()

    if digits + exponent > 308:
        with pytest.raises(ValueError, match="too large"):
            Sharing().read(line)
    else:
        assert Sharing().read(line)["n"] < float("inf")


def test_only_values_that_differ_from_the_previous_line_are_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sharing, parsed = Sharing(), list[str]()
    raws = [
        {"case": "ab", "a": {"k": k, "n": 9, "m": [k]}, "n": 9, "m": [k], "z": {}} for k in range(4)
    ]
    written = lines(*raws, separators=(",", ":"))

    def counted(text: bytes, **how: bool) -> Any:
        parsed.append(text.decode())
        return json.loads(text)

    assert [sharing.read(line) for line in written[:3]] == raws[:3]
    monkeypatch.setattr("haloscope.records.log.from_json", counted)
    monkeypatch.setattr("haloscope.records.strict_json.from_json", counted)
    assert sharing.read(written[3]) == raws[3]
    assert parsed == ['{"k":3', '{"k":3,"n":9,"m":[3]}', "[3]"]


def test_keys_with_any_text_are_shared() -> None:
    """A file with its parameter, in tuning, made each record be parsed whole."""
    sharing = Sharing()
    tuning = {"/etc/a b.conf: btl": "^ofi"}
    raws = [{"case": "aa", "machine": {"n": 1}, "tuning": tuning, "launch": k} for k in (0, 1)]

    one, other = (sharing.read(line) for line in lines(*raws, separators=(",", ":")))

    assert [one, other] == raws
    assert one["machine"] is other["machine"] and one["tuning"] is other["tuning"]
    with pytest.raises(ValueError, match="not a JSON object"):
        sharing.read(lines(raws[0])[0].replace(b"a b", b"a\tb"))


@pytest.mark.parametrize("space", [" ", "\t", "\r", "\n", " \t "])
def test_a_repeated_key_is_found_whatever_precedes_its_colon(space: str) -> None:
    sharing = Sharing()
    sharing.read(b'{"case":"ab","n":1}\n')

    with pytest.raises(ValueError, match="'n'"):
        sharing.read(f'{{"case":"ab","n":1,"n"{space}:1}}\n'.encode())
