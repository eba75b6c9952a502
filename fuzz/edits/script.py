"""How a finding is printed: as a script that shows it again, from the project's folder."""

SCRIPT = """import io_idtech_models
from fuzz.edits.session import Subject, run

io_idtech_models.register()
print(run({subject}, {steps!r}))
"""
