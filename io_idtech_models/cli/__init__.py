"""The command line: info, check, convert. numpy only."""
