"""Definitions and paths: parsed once."""

from __future__ import annotations

from functools import lru_cache

from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.asl.utils import json_path

from localcloud.patching import Mended

MENDED = Mended()

_parse = AmazonStateLanguageParser.parse

parse_definition = lru_cache(256)(_parse)
"""AWS parses a definition when it is created; moto at each start of an execution as well."""
MENDED.add(AmazonStateLanguageParser, "parse", staticmethod(parse_definition))

parse_path = lru_cache(4096)(json_path.parse)
"""moto parses a JSONPath each time that it is followed."""
MENDED.add(json_path, "parse", parse_path)
