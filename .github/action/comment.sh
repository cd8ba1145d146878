#!/usr/bin/env bash
# Post the report as a comment on the pull request, or edit the one that is there: one per key, never stacked.
# A token that may not write (forks, Dependabot) is no failure: the report is in the job summary.
#
# Reads GH_TOKEN, PL_COMMENT (auto, always), PL_COMMENT_KEY, PL_COMMENT_FILE, PL_CONTENT, PL_PR, PL_FORK, and of the
# runner GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_ACTOR, GITHUB_OUTPUT.
set -euo pipefail

exec "$RUNNER_TEMP/policylint/bin/python" "$ACTION_PATH/.github/action/comment.py"
