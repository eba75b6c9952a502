"""Skin files of Quake III's kin: which shader each surface of a model wears.

Pairs of a surface and a shader, with a comma between. Facts (ioquake3's and ET: Legacy's `RE_RegisterSkin` and
`CommaParse`, 1,395 real files):

- A word ends at a blank or a comma, or stands in quotes; `//` and `/* */` are comments; line ends mean nothing.
- A name with `tag_` in it is skipped, without its value. Return to Castle Wolfenstein and Enemy Territory have models
  to attach (`md3_hat, models/...`) and `playerscale 1.1` among the pairs.
- Surfaces' names are compared in lower case; of several entries the first counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WORD = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?P<text>[^"]*)"?|(?P<word>[^\s,"]+)|(?P<comma>,)', re.DOTALL)
TAG, ATTACHED, SCALE = "tag_", "md3_", "playerscale"
MOST = 256  # surfaces of a skin (MD3_MAX_SURFACES of ioquake3's tr_public.h)


def read(text: str) -> dict[str, str]:
    """Return the shader of each surface, by its name in lower case."""
    found: dict[str, str] = {}
    words = _words(text)
    for surface in words:
        if TAG in surface:
            continue
        shader = next(words, "")
        if surface.startswith(ATTACHED) or surface.lower() == SCALE:
            continue
        found.setdefault(surface.lower(), shader)
        if len(found) == MOST:
            break
    return found


def _words(text: str) -> Iterator[str]:
    """Yield the words of a file; of several commas in a row all but the first stand for nothing."""
    for match in WORD.finditer(text):
        word = match.group("word") if match.group("text") is None else match.group("text")
        if word is not None:
            yield word
