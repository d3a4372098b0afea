from jsonata.regex_engine import RegexEngine

class Parser:
    class Symbol:
        type: str | None
        value: object
        position: int
        expression: Parser.Symbol | None
        expressions: list[Parser.Symbol] | None
        steps: list[Parser.Symbol] | None
        stages: list[Parser.Symbol] | None
        predicate: list[Parser.Symbol] | None
        group: Parser.Symbol | None
        expr: Parser.Symbol | None
        lhs: Parser.Symbol | None
        rhs: Parser.Symbol | None
        lhs_object: list[list[Parser.Symbol]] | None
        terms: list[Parser.Symbol] | None
        condition: Parser.Symbol | None
        then: Parser.Symbol | None
        _else: Parser.Symbol | None
        procedure: Parser.Symbol | None
        arguments: list[Parser.Symbol] | None
        body: Parser.Symbol | None
        pattern: Parser.Symbol | None
        update: Parser.Symbol | None
        delete: Parser.Symbol | None
        focus: str | None
        index: str | None
        thunk: bool

    def __init__(self) -> None: ...
    def parse(self, jsonata: str, regex_engine: RegexEngine = ...) -> Parser.Symbol: ...
