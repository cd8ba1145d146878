#!/usr/bin/env bash
# Post the report as a comment on the pull request, or edit the one that is there: one per key, never stacked.
# A token that may not write (forks, Dependabot) is no failure: the report is in the job summary.
#
# Reads GH_TOKEN, PL_COMMENT (auto, always), PL_COMMENT_KEY, PL_COMMENT_FILE, PL_CONTENT, PL_PR, PL_FORK, and of the
# runner GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_ACTOR, GITHUB_OUTPUT.
set -euo pipefail

. "$ACTION_PATH/.github/action/isolated.sh"

needed+=("${network[@]}" GH_TOKEN PL_COMMENT PL_COMMENT_KEY PL_COMMENT_FILE PL_CONTENT PL_PR PL_FORK)
needed+=(GITHUB_API_URL GITHUB_SERVER_URL GITHUB_REPOSITORY GITHUB_ACTOR GITHUB_RUN_ID GITHUB_OUTPUT)
alone "$RUNNER_TEMP/policylint/bin/python" -I "$ACTION_PATH/.github/action/comment.py"
