"""imgpipe help and imgpipe docs, which print texts."""
from . import verbosity


def rows(command):
    return verbosity.version_and_help(command)
