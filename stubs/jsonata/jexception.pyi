class JException(RuntimeError):
    error: str
    location: int
    current: object
    expected: object
    def __init__(
        self,
        error: str | None,
        location: int = ...,
        current_token: object = ...,
        expected: object = ...,
        extra: object = ...,
    ) -> None: ...
