"""Import and export the model formats of id Software's engines."""


def register() -> None:
    """Add the operators, menus, drop handlers and the command to Blender."""
    from .ui.registration import register as register_all

    register_all()


def unregister() -> None:
    """Remove everything that `register` added."""
    from .ui.registration import unregister as unregister_all

    unregister_all()
