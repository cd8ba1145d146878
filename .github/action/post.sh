#!/usr/bin/env bash
# Post what another workflow run found: the folder that it left is data of a stranger. The Markdown is written here, from JSON
# that is held to its schema, and the pull request must have the head commit of that run.
#
# Reads GH_TOKEN, PL_REPORT, PL_HEAD_SHA, PL_HEAD_REPOSITORY, PL_RUN_ID, PL_COMMENT, PL_COMMENT_KEY, PL_GRAPH, and of the runner
# RUNNER_TEMP, GITHUB_API_URL, GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_OUTPUT.
set -euo pipefail
. "$ACTION_PATH/.github/action/isolated.sh"

readonly most_bytes=20000000 # as policylint/report/diff/stored.py has it
case $PL_REPORT in /*) ;; *) PL_REPORT=$checkout/$PL_REPORT ;; esac
PL_DATA=$PL_REPORT/diff.json
number=$PL_REPORT/pr-number

if [ -L "$PL_REPORT" ] || [ -L "$PL_DATA" ] || ! [ -f "$PL_DATA" ]; then
  echo "::notice::policylint: that run left no report"
  printf '%s\n' posted=false result=nothing >>"$GITHUB_OUTPUT"
  exit 0
fi
if [ "$(wc -c <"$PL_DATA")" -gt "$most_bytes" ]; then
  echo "::error::policylint: the report of that run is larger than $most_bytes bytes"
  exit 2
fi
PL_PR=
if [ -f "$number" ] && ! [ -L "$number" ]; then PL_PR=$(head -c 1000 <"$number"); fi
PL_LINKS=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/blob/$PL_HEAD_SHA
GITHUB_RUN_ID=${PL_RUN_ID:-${GITHUB_RUN_ID:-}}
export GITHUB_RUN_ID
. "$ACTION_PATH/.github/action/comment.sh"
