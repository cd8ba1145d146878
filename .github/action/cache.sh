#!/usr/bin/env bash
# Name what the cache holds: the packages of this version's lock, for one operating system and processor.
#
# Reads ACTION_PATH and of the runner RUNNER_TEMP, RUNNER_OS, RUNNER_ARCH, GITHUB_OUTPUT.
set -euo pipefail
. "$ACTION_PATH/.github/action/isolated.sh"

read -r sum size _ < <(alone cksum <"$ACTION_PATH/requirements.lock")
printf 'key=policylint-%s-%s-%s-%s\n' "$RUNNER_OS" "$RUNNER_ARCH" "$sum" "$size" >>"$GITHUB_OUTPUT"
