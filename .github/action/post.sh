#!/usr/bin/env bash
# Post what another workflow run found: the folder that it left is data of a stranger. The Markdown is written here, from JSON
# that is held to its schema, and the pull request must have the head commit of that run.
#
# Reads GH_TOKEN, PL_REPORT, PL_HEAD_SHA, PL_HEAD_REPOSITORY, PL_RUN_ID, PL_COMMENT, PL_COMMENT_KEY, PL_GRAPH, and of the runner
# RUNNER_TEMP, GITHUB_API_URL, GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_OUTPUT.
set -euo pipefail
. "$ACTION_PATH/.github/action/isolated.sh"

readonly most_bytes=20000000 # as policylint/report/diff/stored.py has it
python=$RUNNER_TEMP/policylint/bin/python
case $PL_REPORT in /*) ;; *) PL_REPORT=$checkout/$PL_REPORT ;; esac
data=$PL_REPORT/diff.json
PL_COMMENT_FILE=$RUNNER_TEMP/policylint-comment.md
rm -f "$PL_COMMENT_FILE"

if [ -L "$PL_REPORT" ] || [ -L "$data" ] || ! [ -f "$data" ]; then
  echo "::notice::policylint: that run left no report"
  printf '%s\n' posted=false result=nothing >>"$GITHUB_OUTPUT"
  exit 0
fi
if [ "$(wc -c <"$data")" -gt "$most_bytes" ]; then
  echo "::error::policylint: the report of that run is larger than $most_bytes bytes"
  exit 2
fi

token=$(alone "$python" -I -c 'import secrets; print(secrets.token_hex(32))')
code=0
printf '::stop-commands::%s\n' "$token"
alone "$python" -I -m policylint diff --from-json "$data" --output "markdown=$PL_COMMENT_FILE" \
  --comment-key "${PL_COMMENT_KEY:-default}" --graph "${PL_GRAPH:-}" --links "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/blob/$PL_HEAD_SHA" || code=$?
printf '\n::%s::\n' "$token"
if [ "$code" -ne 0 ]; then
  echo "::error::policylint: the report of that run is not as policylint writes it"
  exit 2
fi
PL_CONTENT=$(alone "$python" -I "$ACTION_PATH/.github/action/outputs.py" "$data" | sed -n 's/^has-content=//p')

needed+=("${network[@]}" GH_TOKEN PL_REPORT PL_HEAD_SHA PL_HEAD_REPOSITORY PL_RUN_ID PL_COMMENT PL_COMMENT_FILE PL_CONTENT)
needed+=(GITHUB_API_URL GITHUB_SERVER_URL GITHUB_REPOSITORY GITHUB_OUTPUT)
alone "$python" -I "$ACTION_PATH/.github/action/comment.py"
