#!/usr/bin/env bash
# Make an environment below RUNNER_TEMP with what requirements.lock lists, each held to its hash, and policylint as it
# lies beside this script: nothing is built, and nothing is read from the checkout. By uv where it is there, else by pip.
#
# Reads ACTION_PATH, RUNNER_TEMP and PL_CACHE, and what the runner says of package indexes and proxies.
set -euo pipefail

if [ "${GITHUB_EVENT_NAME:-}" = pull_request_target ]; then
  echo "::error::policylint: not under pull_request_target, whose token may write: use pull_request, and for forks the second workflow of docs/github-action.md"
  exit 2
fi
. "$ACTION_PATH/.github/action/isolated.sh"

needed+=("${network[@]}" PIP_CONFIG_FILE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX)
needed+=(PIP_TRUSTED_HOST PIP_CERT PIP_PROXY PIP_CACHE_DIR PIP_DEFAULT_TIMEOUT)
needed+=(UV_DEFAULT_INDEX UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_NO_INDEX UV_OFFLINE)
needed+=(UV_INSECURE_HOST UV_NATIVE_TLS UV_SYSTEM_CERTS UV_CACHE_DIR UV_HTTP_TIMEOUT)
venv=$RUNNER_TEMP/policylint
lock=$ACTION_PATH/requirements.lock
if [ "${PL_CACHE:-}" = true ]; then
  export PIP_CACHE_DIR=$RUNNER_TEMP/policylint-cache/pip UV_CACHE_DIR=$RUNNER_TEMP/policylint-cache/uv
fi

# The first Python that is new enough: what `python3` means, else a newer one beside it.
python=
for name in python3 python3.14 python3.13 python3.12 python3.11; do
  candidate=$(type -P "$name") || continue
  version=$(alone "$candidate" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])') || continue
  case $version in 3.[0-9] | 3.10 | [012].*) too_old="${too_old:-$candidate is Python $version}" ;; *) python=$candidate && break ;; esac
done
if [ -z "$python" ]; then
  echo "::error::policylint needs Python 3.11 or newer, and ${too_old:-there is no python3 outside of the checkout}: add actions/setup-python before this step"
  exit 3
fi

by_uv() {
  alone "$uv" --no-config --quiet venv --no-project --clear --python "$python" "$venv" &&
    alone "$uv" --no-config --quiet pip install --python "$venv/bin/python" \
      --require-hashes --only-binary :all: --requirement "$lock"
}

by_pip() {
  alone "$python" -I -m venv --clear "$venv" &&
    alone "$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input \
      --require-hashes --only-binary :all: --requirement "$lock"
}

# uv reads none of pip's settings: where a job tells pip alone where packages are, pip is asked.
uv=$(type -P uv || true)
if [ -n "${PIP_INDEX_URL-}${PIP_NO_INDEX-}${PIP_FIND_LINKS-}${PIP_CONFIG_FILE-}" ] &&
  [ -z "${UV_DEFAULT_INDEX-}${UV_INDEX-}${UV_INDEX_URL-}${UV_NO_INDEX-}${UV_FIND_LINKS-}" ]; then uv=; fi
if [ -z "$uv" ]; then
  by_pip
elif ! by_uv; then
  echo "policylint: uv could not install the packages; trying pip"
  by_pip
fi
alone "$venv/bin/python" -I - "$ACTION_PATH" <<'PYTHON'
import sys
import sysconfig
from pathlib import Path

Path(sysconfig.get_path("purelib"), "policylint.pth").write_text(f"{sys.argv[1]}\n", encoding="utf-8")
PYTHON
alone "$venv/bin/python" -I -m policylint --version
