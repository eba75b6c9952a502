"""Import and export the model formats of id Software's engines."""


def register() -> None:
    """Add the operators, menus, drop handlers and the command to Blender."""
    from .ui import registration

    registration.register()


def unregister() -> None:
    """Remove everything that `register` added."""
    from .ui import registration

    registration.unregister()
