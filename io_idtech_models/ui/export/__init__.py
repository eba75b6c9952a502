"""Export operators, what their dialogs begin with, and the question before a source is written over."""
