#!/usr/bin/env bash
# examples/cluster/Snakefile by Snakemake: the cases of cluster_cases.sh.
#
#   tests/peers/cluster_snakemake.sh [--install] [--keep FOLDER] IMGPIPE
#
# --install installs it (Debian, Ubuntu); a newer one, of pip in a virtual environment, is taken where it stands first
# in the PATH. Ends with 77 where it is missing. --keep leaves all files in FOLDER.
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
