r"""Words of the scripts around a model: shader scripts of Quake III and its kin, declarations of Doom 3 and its kin.

Facts (`COM_ParseExt`, `COM_Compress` and `SkipBracedSection` of q_shared.c, `idLexer::ReadToken` with dhewm3's
`DECL_LEXER_FLAGS`):

- Comments (`//` to the end of the line, `/* */`) are blanks wherever they stand outside of quotes, and one that is not
  closed ends with the text. A line end within one is none.
- In Quake III's scripts whatever is no blank belongs to a word: `{` is a brace where it stands alone. Bytes up to 32
  are blanks. Line ends matter: a keyword's arguments stand behind it in its line.
- In Doom 3's declarations braces, parentheses, commas and operators are words of their own; names hold `/`, `\`, `:`
  and `.`. Line ends matter to a few words only.
- A text ends at a NUL.

More than the engines these readers bear: a quote that is not closed ends with its line, a brace of Quake III's may
begin or end a word, and a path in Doom 3's texts may hold a `-` without quotes.
"""

from __future__ import annotations

import math
import re
import string

from ..reporting import LimitError

BLANKS = "".join(map(chr, range(1, 33)))
BYTE_ORDER_MARK = "\ufeff"
REMARK = re.compile(r'"[^"\n]*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
LETTER = re.compile(".")
WORDS = re.compile(r'\n|"[^"\n]*"?|[{}]|[^\x00-\x20]*[^\x00-\x20{}]')
DECL_WORDS = re.compile(
    r"""\n | "[^"\n]*"?
      | [A-Za-z0-9_.]*[\\/][\w\\/:.]*(?:-[\w\\/:.]+)+
      | (?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![\w\\/:.])
      | [\w\\/.][\w\\/:.]*
      | && | \|\| | [<>=!]= | [^\x00-\x20]""",
    re.VERBOSE,
)
NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
MOST_SHOWN = 40  # characters of a file in a message
LONGEST_NAME = 100  # that is shown whole: the games' have 63 characters at most


def decode(data: bytes) -> tuple[str, str]:
    """Return a file's text, and its encoding: with that `str.encode` gives the same bytes again.

    Games know bytes alone. A file that is no UTF-8 is Latin-1, in which each byte is a character.
    """
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def encode(text: str, encoding: str, what: str) -> bytes:
    """Return a text's bytes in the encoding that `decode` found; LimitError names a letter that `what` can't hold."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise LimitError(f"{what} is not in UTF-8: it can't hold '{error.object[error.start]}'") from error


def fold(name: str) -> str:
    """Return a name as engines compare it: in lower case, but no letters beyond ASCII (`Q_stricmp`, `tolower`)."""
    return name.lower() if name.isascii() else name.translate(LOWER)


def decl_key(name: str) -> str:
    """Return a name of a declaration as Doom 3 compares it (MakeNameCanonical)."""
    name = name.replace("\\", "/")
    return fold(name[: name.rfind(".")] if "." in name else name)


def without_suffix(name: str) -> str:
    """Return a name without its extension: what follows the last dot of its last part (`COM_StripExtension`)."""
    dot = name.rfind(".")
    return name if dot < 0 or dot < name.rfind("/") else name[:dot]


def clean(text: str, *, keeps_lines: bool = False) -> str:
    """Return what engines see of a script: comments are spaces, so that all else stays in its place.

    `keeps_lines` leaves line ends within comments, for who counts lines.
    """
    text = text.partition("\0")[0]
    if text.startswith(BYTE_ORDER_MARK):
        text = " " + text[1:]

    def blank(remark: str) -> str:
        return LETTER.sub(" ", remark) if keeps_lines else " " * len(remark)

    return REMARK.sub(lambda found: found[0] if found[0].startswith('"') else blank(found[0]), text)


def unquoted(word: str) -> str:
    """Return a word as it is meant."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] == '"' else word.removeprefix('"')


def number(word: str) -> float:
    """Return the number that a word begins with, as C's `atof`; 0 without one, or for one that is not finite."""
    match = NUMBER.match(word)
    value = 0.0 if match is None else float(match[0])
    return value if math.isfinite(value) else 0.0


def shown(text: str, most: int = MOST_SHOWN) -> str:
    """Return the beginning of a text, for a message."""
    return text if len(text) <= most else text[:most] + "..."


def shown_name(name: str) -> str:
    """Return the name of a file that another names, for a message."""
    return shown(name, LONGEST_NAME)


class Cursor:
    """Words one after another, line ends among them."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.place = 0
        self._before = 0  # where the last word was asked for

    def word(self) -> str:
        """Return the next word, quotes and all, wherever it stands; "" at the end."""
        words, place = self.words, self.place
        size, self._before = len(words), place
        while place < size and words[place] == "\n":
            place += 1
        self.place = place + 1
        return words[place] if place < size else ""

    def back(self) -> None:
        """Go back to where the last word was asked for."""
        self.place = self._before

    def peek(self) -> str:
        """Return the next word, wherever it stands; "" at the end."""
        found = self.word()
        self.back()
        return found

    def at_argument(self) -> bool:
        """Tell whether a further word follows in this line, other than a brace."""
        return self.place < len(self.words) and self.words[self.place] not in {"\n", "{", "}"}

    def argument(self) -> str:
        """Return the next word of this line as it is meant; "" where the line ends, or at a brace."""
        if not self.at_argument():
            return ""
        self.place += 1
        return unquoted(self.words[self.place - 1])

    def numbers(self, count: int) -> tuple[float, ...]:
        """Return the next numbers of this line; those that are missing are 0."""
        return tuple(number(self.argument()) for _ in range(count))

    def rest(self) -> list[str]:
        """Return all further words of this line, as they are meant, up to where a block begins or ends."""
        start = self.place
        while self.at_argument():
            self.place += 1
        return [unquoted(word) for word in self.words[start : self.place]]
