from collections.abc import Iterable

class Utils:
    class NullValue: ...

    class JList(list[object]):
        sequence: bool
        def __init__(self, c: Iterable[object] = ...) -> None: ...

    NULL_VALUE: NullValue
    NONE: object
    @staticmethod
    def is_numeric(v: object) -> bool: ...
    @staticmethod
    def convert_number(n: float) -> float | None: ...
    @staticmethod
    def is_function(o: object) -> bool: ...
