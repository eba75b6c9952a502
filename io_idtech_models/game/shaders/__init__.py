"""Shader scripts and materials: what a name that a model gives looks like in the game.

`library.py` finds a name in the scripts, `script.py` and `material.py` read its body into the dataclasses of
`model.py`, `shader_looks.py` says what these come to, and `resolve.py` what the engine does with a name, in scripts or
not.
"""
