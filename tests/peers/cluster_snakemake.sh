#!/usr/bin/env bash
# Runs examples/cluster/Snakefile with Snakemake: the cases of cluster_cases.sh.
#
#   tests/peers/cluster_snakemake.sh [--install] [--keep FOLDER] IMGPIPE
#
# --install installs it (Debian, Ubuntu). A newer one, from pip in a virtual environment, is used if it is first in
# PATH. Exits with 77 if it is missing. --keep leaves all files in FOLDER.
set -euo pipefail
. "$(dirname "$0")/cluster_cases.sh"
engine=Snakemake
files=(Snakefile)
begin "$@"
((!install)) || install_peers snakemake
need snakemake
export XDG_CACHE_HOME=$work/cache
engine_line() { snakemake --version; }
run_example() { snakemake --cores 4 --keep-going; }
run_cases
