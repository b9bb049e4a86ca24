#!/bin/sh
# The tests use a real Redis, a real browser and a real pooler of PostgreSQL's connections. On Debian or Ubuntu as root this installs what is missing;
# anywhere else it says what to install, and fails.
set -eu
missing=""
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
command -v chromium >/dev/null 2>&1 || [ -n "${CHROMIUM_PATH:-}" ] || missing="$missing chromium"
command -v ps >/dev/null 2>&1 || missing="$missing procps"
# It is no program for users, so their paths may lack it.
[ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null 2>&1 || missing="$missing pgbouncer"
[ -z "$missing" ] && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "Installing$missing for the tests."
  apt-get -o DPkg::Lock::Timeout=300 update -qq
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $missing >/dev/null
else
  echo "The tests need$missing. Install them with your package manager (or set CHROMIUM_PATH) and run npm test again." >&2
  exit 1
fi
