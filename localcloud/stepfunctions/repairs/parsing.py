"""Definitions and paths: parsed once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from antlr4 import PredictionMode  # type: ignore[import-untyped]  # it has no types
from jsonpath_ng import JSONPath
from jsonpath_ng.ext.parser import parse
from moto.stepfunctions.parser.asl.antlr.runtime.ASLParser import ASLParser
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
_read_machine: Any = ASLParser.state_machine


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


@MENDED.of(ASLParser, "state_machine")
def read_machine(self: Any) -> Any:
    """AWS reads a definition of 1 MB in no time; moto's parser is slow, half of it for nothing.

    The parser's simple strategy finds the same tree, or an error; then its full one has to look.
    """
    full, self._interp.predictionMode = self._interp.predictionMode, PredictionMode.SLL
    tree = _read_machine(self)
    if self.getNumberOfSyntaxErrors() == 0:
        return tree
    for listener in self._listeners:
        listener.errors.clear()
    self.reset()
    self._interp.predictionMode = full
    return _read_machine(self)


@MENDED.of(ResultPath, "_eval_body")
def place_result(self: ResultPath, env: Environment) -> None:
    """AWS has no ResultPath in JSONata mode; moto follows one for every Pass."""
    if self.result_path_src != ResultPath.DEFAULT_PATH:
        _place(self, env)
