from __future__ import annotations

from tests.tour.page import Block, blocks

PAGE = """\
# Title

```console
$ start
```

```sh
A=1
```

Words.

```sh
echo $A
```
```text
1
```

```text
not an answer: it stands apart
```
```sh
true
```
"""


def test_a_page_has_commands_and_what_they_show() -> None:
    assert blocks(PAGE) == [
        Block(7, "A=1\n"),
        Block(13, "echo $A\n", "1\n"),
        Block(23, "true\n"),
    ]


def test_what_varies_is_left_out_within_a_line_or_whole_lines() -> None:
    block = Block(1, "", "id …, status done\n{\n  …\n  last\n}\n")
    assert block.fits("id 4711, status done\n{\n  first\n  second\n  last\n}")
    assert block.fits("id 1, status done  \r\n{\n  last\n}\n\n".replace("\n\n", "\n"))
    assert not block.fits("id , status done\n{\n  last\n}\n")
    assert not block.fits("id 4711, status failed\n{\n  last\n}\n")
    assert not block.fits("id 4711, status done\n{\n  last\n}\nand more\n")


def test_commands_that_should_show_nothing_show_nothing() -> None:
    assert Block(1, "true\n").fits("")
    assert not Block(1, "true\n").fits("a warning\n")


def test_a_difference_names_the_line_of_the_page() -> None:
    told = Block(12, "", "paused\n").difference("failed\n")
    assert told.splitlines() == [
        "--- the page, line 12",
        "+++ what happened",
        "@@ -1 +1 @@",
        "-paused",
        "+failed",
    ]
