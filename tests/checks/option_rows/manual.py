"""imgpipe help and imgpipe docs: their answers are texts."""
from . import talk


def rows(command):
    return talk.version_and_help(command)
