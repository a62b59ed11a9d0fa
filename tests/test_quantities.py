# SPDX-License-Identifier: BSD-3-Clause
import pytest

from haloscope.quantities import (
    BYTES_PER_SECOND,
    PERCENT,
    SECONDS,
    count,
    ends,
    error,
    listed,
    number,
    percent,
    printed_seconds,
    probability,
    quantity,
    rate,
    scientific,
    seconds,
    size,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (764.39, "764 s"),
        (6393.86, "6,394 s"),
        (2.314, "2.31 s"),
        (0.9996, "1,000 ms"),
        (0.00231, "2.31 ms"),
        (4.4e-7, "440 ns"),
        (4.44e-5, "44.4 µs"),
        (3e-10, "0.300 ns"),
        (0.0, "0 ns"),
        (None, "–"),
    ],
)
def test_seconds_use_a_suitable_unit(value: float | None, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(9.999, 3, "10.0"), (99.96, 3, "100"), (0.01234, 2, "0.012"), (1048576.0, 3, "1,048,576")],
)
def test_numbers_keep_their_digits_when_they_are_rounded_up(
    value: float, digits: int, text: str
) -> None:
    assert number(value, digits) == text


def test_interval_ends_use_the_unit_of_the_value_and_stay_distinct() -> None:
    assert ends(2.31, 2.29, 2.4, SECONDS) == ("2.29", "2.40")
    assert ends(0.0011, 0.0009, 0.0012, SECONDS) == ("0.900", "1.20")
    assert ends(100.02, 100.01, 100.04) == ("100.01", "100.04")
    assert ends(2.0, 2.0, 2.0) == ("2.00", "2.00")


def test_sizes_are_binary_and_rates_decimal() -> None:
    assert [size(value) for value in (0, 8, 32768, 2**28, 25231360, None)] == [
        "0 B",
        "8 B",
        "32 KiB",
        "256 MiB",
        "24.1 MiB",
        "–",
    ]
    assert rate(13.14e9) == "13.1 GB/s"
    assert quantity(1.8e7, BYTES_PER_SECOND) == "18.0 MB/s"


def test_percentages_counts_and_lists_are_formatted() -> None:
    assert [percent(share) for share in (0.9234, 0.0123, 0.0, None)] == [
        "92 %",
        "1.2 %",
        "0 %",
        "–",
    ]
    assert scientific(3.1266e-6) == "3.1266e−06"
    assert [probability(p) for p in (0.0321, 0.00001, None)] == ["0.032", "<0.001", "–"]
    assert [count(1, "launch", "launches"), count(1200, "core")] == ["1 launch", "1,200 cores"]
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == [
        "a",
        "a and b",
        "a, b, and c",
    ]


def test_a_tiny_share_is_not_printed_as_zeros() -> None:
    assert quantity(4.4e-18, PERCENT) == "<0.01 %"
    assert quantity(2e-4, PERCENT) == "0.0200 %"
    assert quantity(0.0, PERCENT) == "0 %"


@pytest.mark.parametrize(
    ("value", "resolution_s", "text"),
    [
        (0.03, 0.01, "0.03 s"),
        (0.16, 0.01, "0.16 s"),
        (18.88, 0.01, "18.9 s"),
        (9.0, 1.0, "9 s"),
        (6e-6, 1e-7, "6.0 µs"),
        (2.38e-5, 1e-7, "23.8 µs"),
        (0.03, None, "30.0 ms"),
    ],
)
def test_a_printed_duration_has_only_the_published_digits(
    value: float, resolution_s: float | None, text: str
) -> None:
    assert printed_seconds(value, resolution_s) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0412, "+4.1 %"), (-0.1, "−10.0 %"), (0.0, "+0.0 %"), (15.5, "+1,550 %")]
)
def test_an_error_is_a_signed_percentage(share: float, text: str) -> None:
    assert error(share) == text
    assert error(share, sign="") == text.removeprefix("+")
