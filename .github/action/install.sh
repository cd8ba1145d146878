#!/usr/bin/env bash
# Make an environment below RUNNER_TEMP with what requirements.lock lists, each held to its hash, and policylint as it
# lies beside this script: nothing is built, and nothing is read from the checkout.
#
# Reads ACTION_PATH and RUNNER_TEMP, and what the runner says of package indexes and proxies.
set -euo pipefail

if [ "${GITHUB_EVENT_NAME:-}" = pull_request_target ]; then
  echo "::error::policylint: not under pull_request_target, whose token may write: use pull_request, and for forks the second workflow of docs/github-action.md"
  exit 2
fi
. "$ACTION_PATH/.github/action/isolated.sh"

needed+=("${network[@]}" PIP_CONFIG_FILE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX)
needed+=(PIP_TRUSTED_HOST PIP_CERT PIP_PROXY PIP_CACHE_DIR PIP_DEFAULT_TIMEOUT)
python=$(type -P python3) || { echo "::error::policylint: there is no python3 outside of the checkout" && exit 3; }
venv=$RUNNER_TEMP/policylint

alone "$python" -I -m venv --clear "$venv"
alone "$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input \
  --require-hashes --only-binary :all: --requirement "$ACTION_PATH/requirements.lock"
alone "$venv/bin/python" -I - "$ACTION_PATH" <<'PYTHON'
import sys
import sysconfig
from pathlib import Path

Path(sysconfig.get_path("purelib"), "policylint.pth").write_text(f"{sys.argv[1]}\n", encoding="utf-8")
PYTHON
alone "$venv/bin/python" -I -m policylint --version
