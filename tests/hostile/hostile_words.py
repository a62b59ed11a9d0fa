# SPDX-License-Identifier: BSD-3-Clause
"""Words that somebody may put wherever a word may stand: each tries to be more than a word.

Every one holds a token of its own, so that a test can tell whether it came through at all.
"""

from __future__ import annotations

TOKEN = "HX7"
"""A part of every word, followed by the word's number: see `token`."""
CANARY = "canary-4f1d"
"""The contents of a file outside the folder, which must not appear anywhere."""

_WORDS: dict[str, str] = {
    "html-script": f"<script>{TOKEN}()</script>",
    "html-image": f"<img src=x onerror={TOKEN}()>",
    "html-svg": f"<svg/onload={TOKEN}()>",
    "html-comment": f"<!-- {TOKEN}",
    "html-end-of-title": f"</title></style></script><b>{TOKEN}",
    "html-attribute": f'" onmouseover="{TOKEN}()" x="',
    "html-single-quote": f"' onmouseover='{TOKEN}()' x='",
    "html-entity": f"&lt;b&gt;{TOKEN}&#60;b&#62;",
    "html-cdata": f"]]><b>{TOKEN}</b><![CDATA[",
    "html-frame": f"<iframe src=//x.invalid/{TOKEN}></iframe>",
    "html-meta": f"<meta http-equiv=refresh content=0;url=//x.invalid/{TOKEN}>",
    "template-jinja": "{{ 7*7 }}" + TOKEN + "{% include '/etc/passwd' %}",
    "template-format": "{0.__class__.__mro__} %s %n ${HOME} " + TOKEN,
    "markdown-link": f"[{TOKEN}](javascript:alert(1))",
    "markdown-image": f"![{TOKEN}](http://x.invalid/p.png)",
    "markdown-autolink": f"<http://x.invalid/{TOKEN}>",
    "markdown-heading": f"a\n# {TOKEN}",
    "markdown-rule": f"a\n\n---\n\n{TOKEN}",
    "markdown-row": f"a | b | {TOKEN} |\n| - | - |",
    "markdown-code": f"```\n{TOKEN}\n```",
    "markdown-backslash": f"\\[{TOKEN}\\](x) \\\\<b>",
    "latex-input": f"\\input{{/etc/hostname}} {TOKEN}",
    "latex-write": f"\\immediate\\write18{{touch ran}} {TOKEN}",
    "latex-carets": f"^^5cinput{{/etc/hostname}} {TOKEN}",
    "latex-end": f"\\end{{document}} {TOKEN}",
    "latex-comment": f"% {TOKEN} $ & # _ {{ }} ~",
    "latex-catcode": f"\\catcode`\\@=0 @input{{/etc/hostname}} {TOKEN}",
    "latex-environment": f"\\begin{{filecontents}}{{evil.tex}} {TOKEN}",
    "csv-hyperlink": f'=HYPERLINK("http://x.invalid/{TOKEN}","{TOKEN}")',
    "csv-dde": f"=cmd|' /C calc'!A0 {TOKEN}",
    "csv-plus": f"+SUM(1,2)*{TOKEN}",
    "csv-minus": f"-2+3+{TOKEN}",
    "csv-at": f"@SUM(1,2){TOKEN}",
    "csv-tab": f"\t=1+1 {TOKEN}",
    "csv-return": f"\r=1+1 {TOKEN}",
    "csv-cells": f'x","=1+1","{TOKEN}',
    "terminal-clear": f"\x1b[2J\x1b[H{TOKEN}",
    "terminal-title": f"\x1b]0;{TOKEN}\x07",
    "terminal-link": f"\x1b]8;;http://x.invalid\x1b\\{TOKEN}\x1b]8;;\x1b\\",
    "terminal-clipboard": f"\x1b]52;c;cm0gLXJmIC8K\x07{TOKEN}",
    "terminal-eight-bit": f"\x9b2J\x9d0;x\x9c{TOKEN}",
    "terminal-device": f"\x1bP+q544e\x1b\\{TOKEN}",
    "terminal-backspace": f"good\x08\x08\x08\x08evil {TOKEN}",
    "terminal-bell": f"\x07\x07{TOKEN}",
    "terminal-direction": f"\u202e{TOKEN}\u2066evil\u2069",
    "terminal-delete": f"\x7f\x00{TOKEN}",
    "rich-markup": f"[bold red]{TOKEN}[/] [link=file:///etc/passwd]x[/link] :skull:",
    "rich-broken-markup": f"[/nothing] [red {TOKEN}",
    "shell-substitution": f"$(touch ran) `touch ran` {TOKEN}",
    "shell-separators": f"; touch ran; {TOKEN} & touch ran | touch ran > ran",
    "shell-quotes": f"'; touch ran; '\"; touch ran; \" {TOKEN}",
    "shell-newline": f"a\ntouch ran\n{TOKEN}",
    "math-text": f"$\\frac{{{TOKEN}",
    "math-evil": f"$\\undefined$ {TOKEN} $$",
    "path-up": f"../../../{TOKEN}",
    "path-absolute": f"/etc/{TOKEN}",
    "path-home": f"~root/{TOKEN}",
    "surrogate": f"\ud800{TOKEN}\udfff",
    "not-a-character": f"\ufffe{TOKEN}\uffff",
    "wide": f"\U0001f480{TOKEN}" + "\u0301" * 200,
    "long": TOKEN + "x" * 20000,
    "many-lines": f"{TOKEN}\n" * 200,
}


def token(name: str) -> str:
    """The part that identifies a word, however the rest is changed."""
    return f"{TOKEN}n{[*_WORDS].index(name)}n"


WORDS = {name: word.replace(TOKEN, token(name)) for name, word in _WORDS.items()}
"""The words by what they try."""
