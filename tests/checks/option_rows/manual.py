"""imgpipe help and imgpipe docs, which print texts."""
from . import talk


def rows(command):
    return talk.version_and_help(command)
