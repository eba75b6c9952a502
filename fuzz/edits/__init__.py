"""Looking for edits that an export gets wrong in silence: `python3 build.py fuzz edits`; see `run`."""
