"""Characters of games: which files make one, found from the file that names it."""

ENDS = (
    ".char",
    "wolfanim.cfg",
    ".def",
)  # of the files that name one; see `kinds`, which need not be read to know these
MESHES = (".md5mesh", ".mdm", ".skin")  # from which one is found, too
