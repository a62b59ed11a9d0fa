# SPDX-License-Identifier: BSD-3-Clause
"""haloscope schema: print the JSON Schema of a file format, for editors and other programs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from haloscope.clusters.schema import Cluster
from haloscope.papers.file import PaperFile
from haloscope.profiling.document import ProfileJson
from haloscope.programs.schema import ProgramFile
from haloscope.records import checked
from haloscope.records.record import Record
from haloscope.report.draw.json_document import ReportJson
from haloscope.run.prepare import halobench
from haloscope.run.prepare.halobench import KernelParameter
from haloscope.sites.schema import BatchSite
from haloscope.study.schema import Study

_DESCRIPTION = """\
Print the JSON Schema (2020-12) of a file format, for editors, check-jsonschema, and other
programs. Some rules cannot be expressed in a schema, for example that two keys are mutually
exclusive. haloscope checks them when it reads the file.
"""
_EPILOG = """\
examples:
  haloscope schema study > study.json    for a line '#:schema ./study.json' in a study
  haloscope schema record                schema of a line of records.jsonl
"""


def _study() -> dict[str, Any]:
    schema = Study.model_json_schema()
    parts: dict[str, dict[str, Any]] = schema["$defs"]
    runs = [_of_kernel(name, parts) for name in halobench.names()]
    parts["Run"]["allOf"] = runs
    return schema


def _of_kernel(name: str, parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a run's parameters if it is of this kernel."""
    params = {}
    for one in halobench.describe(name).parameters:
        allowed = _parameter(one)
        shared = next((each for each in parts if parts[each] == allowed), f"{name}.{one.name}")
        parts[shared] = allowed
        params[one.name] = {"$ref": f"#/$defs/{shared}"}
    known = {"properties": params, "additionalProperties": False}
    return {
        "if": {"properties": {"kernel": {"const": name}}, "required": ["kernel"]},
        "then": {"properties": {"params": known}},
    }


def _parameter(one: KernelParameter) -> dict[str, Any]:
    bounds = {"minimum": one.minimum, "maximum": one.maximum}
    number = {key: bound for key, bound in bounds.items() if bound is not None}
    truth = [{"type": "boolean"}] if {*one.choices} == {"true", "false"} else []
    suffixed = {"type": "string", "pattern": "^-?[0-9]+[KMG]$"}
    allowed: Mapping[str, dict[str, Any]] = {
        "integer": {"anyOf": [{"type": "integer", **number}, suffixed]},
        "real": {"type": "number", **number},
        "choice": {"anyOf": [{"enum": [*one.choices]}, *truth]},
        "sizes": {"anyOf": [{"type": "integer", **number}, {"type": "string"}]},
        "text": {"type": "string"},
        "file": {"type": "string"},
    }
    value = allowed[one.type]
    several = {"type": "array", "items": value, "minItems": 1}
    return {"description": one.help, "default": one.default, "anyOf": [value, several]}


def _called_as_its_file(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    del schema["properties"]["name"]
    schema["required"].remove("name")
    return schema


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "study": _study,
    "cluster": lambda: _called_as_its_file(Cluster),
    "site": lambda: _called_as_its_file(BatchSite),
    "program": ProgramFile.model_json_schema,
    "paper": PaperFile.model_json_schema,
    "record": lambda: GenerateJsonSchema().generate(checked.schema(Record)),
    "profile": lambda: ProfileJson.model_json_schema(by_alias=True, mode="serialization"),
    "report": lambda: ReportJson.model_json_schema(by_alias=True, mode="serialization"),
}


def text(kind: str) -> str:
    """Return the schema of a file format, as JSON."""
    schema = {"$schema": GenerateJsonSchema.schema_dialect, **SCHEMAS[kind]()}
    return json.dumps(schema, indent=1) + "\n"


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `schema`, and add its argument."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument(
        "kind", metavar="KIND", choices=SCHEMAS, help=f"file format: {', '.join(SCHEMAS)}"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    print(text(arguments.kind), end="")
    return 0
