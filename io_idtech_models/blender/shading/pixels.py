"""The pixels that materials show."""
