"""The command line that starts a game: a template of arguments, which is a setting, and what stands for what in it.

Facts (Com_ParseCommandLine, Com_StartupVariable, Cmd_TokenizeString): engines join their arguments, those with blanks
in quotes, into one line of up to 1,023 characters; a plus outside of quotes begins a command, a quote ends a word.
`+set` comes before all scripts, and again after them. The folder `fs_homepath` has precedence over `fs_basepath`, and
is the only one that is written to; an engine that keeps settings, data and logs apart has a name for each of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...reporting import LimitError

ARGUMENTS = (
    "+set fs_basepath {base} +set fs_homepath {home} +set fs_homeconfigpath {home} +set fs_homedatapath {home} "
    "+set fs_homestatepath {home} +set com_basegame {game} +set fs_game {mod} +devmap {map} +exec {script}"
)
PLACEHOLDERS = {
    "base": "the folder that holds the game's folder",
    "game": "the name of the game's folder",
    "mod": "the name of the mod's folder; what would set it is left out where there is no mod",
    "home": "a folder of its own, which is removed at the end",
    "map": "the map",
    "script": "the script that shows the model",
}
WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
PLACEHOLDER = re.compile(r"\{(\w*)\}")
LONGEST = 1023  # MAX_STRING_CHARS - 1
UNSPEAKABLE = re.compile(r'["+;\x00-\x1f\x7f]')  # what a path can't have in such a line


def arguments(template: str, values: Mapping[str, str]) -> list[str]:
    """Return the arguments that a template comes to; "" means the usual ones.

    Words stand between blanks, or in double quotes. A command (from a word that begins with `+` to the next) with a
    placeholder whose value is "" is left out.

    Raises:
        LimitError: the template has a quote without its partner, or a placeholder that there is not, or a value can't
            stand on a game's command line, or that gets too long.
    """
    template = template.strip() or ARGUMENTS
    if template.count('"') % 2:
        raise LimitError(f"the game's arguments have a quote without its partner: {template}")
    commands: list[list[str]] = [[]]
    for found in WORD.finditer(template):
        word = found[1] if found[1] is not None else found[2]
        if word.startswith("+"):
            commands.append([])
        commands[-1].append(word)
    words = [word for command in commands if _is_wanted(command, values) for word in command]
    filled = [_filled(word, values) for word in words]
    length = len(" ".join(filled)) + 2 * sum(" " in word for word in filled)
    if length > LONGEST:
        raise LimitError(f"the game's arguments have {length} characters, its command line takes {LONGEST}")
    return filled


def _is_wanted(command: list[str], values: Mapping[str, str]) -> bool:
    return all(values.get(name) != "" for word in command for name in PLACEHOLDER.findall(word))


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name in PLACEHOLDER.findall(word):
        if name not in values:
            known = ", ".join(f"{{{each}}}" for each in values)
            raise LimitError(f"the game's arguments have {{{name}}}, there are only {known}")
        if UNSPEAKABLE.search(values[name]):
            raise LimitError(f"'{values[name]}': a game's command line can't hold a path with + ; or a quote in it")
    return PLACEHOLDER.sub(lambda found: values[found[1]], word)
