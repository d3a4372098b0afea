"""Definitions and paths: parsed once."""

from __future__ import annotations

from functools import lru_cache

from jsonpath_ng import JSONPath
from jsonpath_ng.ext.parser import parse
from moto.stepfunctions.parser.asl.component.common.path import result_path
from moto.stepfunctions.parser.asl.component.common.path.result_path import ResultPath
from moto.stepfunctions.parser.asl.component.eval_component import EvalComponent
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.asl.utils import json_path

from localcloud.patching import Mended

MENDED = Mended()

_parse = AmazonStateLanguageParser.parse
_place = ResultPath._eval_body


@lru_cache(256)
def parse_definition(definition: str) -> tuple[EvalComponent, object]:
    """AWS parses a definition when it is created; moto at each start of an execution as well."""
    return _parse(definition)


@lru_cache(4096)
def parse_path(path: str) -> JSONPath:
    """AWS follows a JSONPath that it knows; moto builds a parser each time."""
    return parse(path)


MENDED.add(AmazonStateLanguageParser, "parse", staticmethod(parse_definition))
for module in (json_path, result_path):
    MENDED.add(module, "parse", parse_path)


@MENDED.of(ResultPath, "_eval_body")
def place_result(self: ResultPath, env: Environment) -> None:
    """AWS has no ResultPath in JSONata mode; moto follows one for every Pass."""
    if self.result_path_src != ResultPath.DEFAULT_PATH:
        _place(self, env)
