"""Text as people may have it: what would act on a terminal is shown as a sign instead."""

from __future__ import annotations

import re
from typing import Final, TextIO

from gitmem.control_signs import CONTROLS, control_sign

#: Control characters but tabs and line feeds; the colors that this program itself makes are left.
_CONTROLS: Final = re.compile(rf"(\x1b\[(?:[0-9]{{1,2}}(?:;[0-9]{{1,2}})*)?m)|{CONTROLS}")


def shown_on(stream: TextIO | None, text: str, *, exact: bool = False) -> str:
    """Return a text for a stream, harmless for a terminal: a pipe mostly ends at one.

    What an agent heard may hold sequences that set a terminal's title or fill its clipboard.

    Args:
        stream: where it goes.
        text: may have the colors of this program.
        exact: whether it is for programs: a file or a pipe gets it as it is.
    """
    if stream is None or (exact and not stream.isatty()):
        return text
    return _CONTROLS.sub(lambda found: found[1] or control_sign(found[0]), text.replace("\r\n", "\n"))
