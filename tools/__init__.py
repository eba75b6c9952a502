"""What ``build.py`` does: environments, conversions through PyPI's bpy, checks and the extension's zip.

Standard library only, and in the syntax of Python 3.8: a Python that bpy has no wheel for must get far
enough to find one that it has a wheel for, or to say which one to install.
"""
