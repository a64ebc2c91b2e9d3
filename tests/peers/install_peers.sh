# Shared by the scripts of this directory: messages, and packages of other programs.

say() { printf '%s\n' "$*" >&2; }

# install_peers PACKAGE...: as root or through sudo (Debian, Ubuntu).
install_peers() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2
}
