#!/usr/bin/env bash
# Post the report as a comment on the pull request, or edit the one that is there: one per key, never stacked.
# What GitHub refuses (forks, Dependabot) is no failure: the report is in the job summary. Only a pull request that does not
# have the head commit of the run, and a report that is not as policylint writes it, are.
#
# Reads GH_TOKEN, PL_COMMENT (auto, always), PL_COMMENT_KEY, PL_DATA (the diff as JSON), PL_GRAPH, PL_LINKS, PL_PR, PL_FORK and,
# where all of that comes from a stranger, PL_HEAD_SHA and PL_HEAD_REPOSITORY; of the runner GITHUB_*, RUNNER_TEMP.
set -euo pipefail
if ! declare -F alone >/dev/null; then . "$ACTION_PATH/.github/action/isolated.sh"; fi

posted() { printf '%s\n' "posted=$1" "result=$2" >>"$GITHUB_OUTPUT"; }

if ! [ -s "${PL_DATA:-}" ]; then
  echo "::notice::policylint: there is no report to comment with"
  posted false nothing
  exit 0
fi
if ! [[ ${PL_PR:-} =~ ^[0-9]{1,10}$ ]]; then
  echo "::error::policylint: no pull request number"
  exit 2
fi
options=(--from-json "$PL_DATA" --on github --repository "$GITHUB_REPOSITORY" --number "$PL_PR")
options+=(--key "${PL_COMMENT_KEY:-default}" --graph "${PL_GRAPH:-}" --links "${PL_LINKS:-}")
if [ "${PL_COMMENT:-auto}" = always ]; then options+=(--always); fi
if [ -n "${PL_HEAD_REPOSITORY+set}" ]; then options+=(--head-of "${PL_HEAD_SHA:-}" "$PL_HEAD_REPOSITORY"); fi

export POLICYLINT_TOKEN=${GH_TOKEN:-}
needed+=("${network[@]}" POLICYLINT_TOKEN GITHUB_API_URL GITHUB_SERVER_URL GITHUB_REPOSITORY GITHUB_RUN_ID)
code=0
said=$(alone "$RUNNER_TEMP/policylint/bin/python" -I -m policylint comment "${options[@]}" 2>&1) || code=$?
last=${said##*$'\n'}
last=${last#policylint: }
case $code:$last in
  0:"comment "*)
    printf '%s\n' "$said"
    result=${last#comment }
    posted true "${result%%:*}"
    ;;
  0:*)
    printf '%s\n' "$said"
    posted false nothing
    ;;
  3:*"head commit of that run"*)
    echo "::error::policylint: pull request $PL_PR does not have the head commit of that run"
    exit 2
    ;;
  3:*)
    printf '%s\n' "${said%"policylint: $last"}" | sed '/^$/d'
    kind=warning
    if [ "${PL_FORK:-}" = true ]; then kind=notice last="$last (pull requests from forks have a read-only token)"; fi
    echo "::$kind::policylint: $last. The report is in the job summary."
    posted false refused
    ;;
  *)
    echo "::error::policylint: the report of that run is not as policylint writes it"
    exit 2
    ;;
esac
