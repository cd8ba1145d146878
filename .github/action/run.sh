#!/usr/bin/env bash
# Lint, and on a pull request or push compare, once, for the composite action: text to the log, SARIF and JSON to files,
# Markdown to the job summary and to the file that becomes the comment; what a second workflow needs to a folder, as data.
# Never fails itself: the exit code goes to the step's outputs, and the action's last step ends with it.
#
# Reads PL_PATH, PL_BASE, PL_CONFIG, PL_ENVIRONMENTS, PL_CHARTS, PL_RENDERED_BEFORE, PL_RENDERED_AFTER, PL_ARGS, PL_FAIL_ON, PL_SARIF,
# PL_GRAPH, PL_HEAD_SHA and PL_PR, what the runner says of the event (GITHUB_*), and writes below
# RUNNER_TEMP, GITHUB_OUTPUT and GITHUB_STEP_SUMMARY.
set -euo pipefail
. "$ACTION_PATH/.github/action/isolated.sh"

readonly summary_budget=$((900 * 1024)) # the runner drops a summary of more than 1 MiB

needed+=("${!POLICYLINT_@}")
python=$RUNNER_TEMP/policylint/bin/python
git=$(type -P git || true)
sarif=$RUNNER_TEMP/policylint.sarif
folder=$RUNNER_TEMP/policylint-report # what the second workflow for forks needs, and nothing else
report=$RUNNER_TEMP/policylint-comment.md
summary=$RUNNER_TEMP/policylint-summary.md
data=$RUNNER_TEMP/policylint.json
annotations=$RUNNER_TEMP/policylint.log
arguments=$RUNNER_TEMP/policylint.args
rm -rf "$folder"
rm -f "$report" "$sarif" "$summary" "$data" "$annotations"
mkdir -p "$folder"

# asked ARGUMENT...: whether git says yes.
asked() {
  test -n "$git" && alone "$git" -c core.fsmonitor= -c core.hooksPath=/dev/null -C "$checkout" "$@" >/dev/null 2>&1
}

# known REVISION: whether this clone has it.
known() { asked rev-parse --verify --quiet --end-of-options "$1^{commit}"; }

paths=()
read -r -d '' -a paths <<<"${PL_PATH:-.}" || true # on whitespace, without expanding wildcards
environments=()
read -r -d '' -a environments <<<"${PL_ENVIRONMENTS:-}" || true
charts=()
read -r -d '' -a charts <<<"${PL_CHARTS:-}" || true
rendered=${PL_RENDERED_BEFORE:-}${PL_RENDERED_AFTER:-} # directories in the place of revisions

# What to compare with: the input, else the first parent of the merge commit, else where the branch was before the push.
base=${PL_BASE:-}
if [ -z "$base" ]; then
  case "${GITHUB_EVENT_NAME:-}" in
    pull_request | merge_group) base=HEAD^1 ;;
    push) base=${PL_BEFORE:-} ;;
  esac
fi
# A branch that is new, or whose old tip is not in this clone, has nothing to be compared with: it is linted.
if [ "${GITHUB_EVENT_NAME:-}" = push ] && [ -z "${PL_BASE:-}" ] && [ -n "$base" ]; then
  if [[ $base =~ ^0+$ ]] || ! known "$base"; then base=; fi
fi

common=(--fail-on "${PL_FAIL_ON:-error}")
for name in ${environments[@]+"${environments[@]}"}; do common+=(--env "$name"); done
for name in ${charts[@]+"${charts[@]}"}; do common+=(--rendered "$name"); done
# Code scanning keeps the last report of a branch as its state: what is not in it counts as mended. After a push that is
# what lint finds in the tree, each alert where it is and was; a pull request has its new findings on the lines it touches.
of_state=()
if [ "${PL_SARIF:-true}" = true ]; then
  if [ "${GITHUB_EVENT_NAME:-}" = push ] && [ -n "$base$rendered" ]; then
    of_state=(--fail-on never --format concise --output "sarif=$sarif")
    for name in ${environments[@]+"${environments[@]}"}; do of_state+=(--env "$name"); done
    if [ "${#charts[@]}" -gt 0 ]; then of_state+=(--rendered "${charts[-1]}"); fi
    if [ -n "${PL_CONFIG:-}" ]; then of_state+=(--config "$PL_CONFIG"); fi
  else
    common+=(--output "sarif=$sarif")
  fi
fi
# A file of the repository is taken as the base has it, not as the change leaves it, which it judges.
config=${PL_CONFIG:-}
if [ -n "$config" ] && [ -n "$base" ]; then
  if asked rev-parse --verify --quiet --end-of-options "$base:./$config"; then
    config=$base:$config
  elif asked ls-files --error-unmatch -- "$config"; then
    echo "policylint: $base has no $config: this change is judged without it"
    config=
  fi
fi
# Two directories of rendered manifests have no side before that git knows: its configuration is the base's all the same.
if [ -z "${PL_CONFIG:-}" ] && [ -n "$base" ] && [ -n "$rendered" ]; then
  for name in .policylint.yaml .policylint.yml .config/policylint.yaml pyproject.toml; do
    if ! asked rev-parse --verify --quiet --end-of-options "$base:./$name"; then continue; fi
    if [ "$name" = pyproject.toml ] && ! asked grep --quiet --fixed-strings '[tool.policylint' "$base" -- "$name"; then continue; fi
    config=$base:$name
    break
  done
  if [ -z "$config" ]; then common+=(--no-config); fi
fi
if [ -n "$config" ]; then common+=(--config "$config"); fi
# Further options, as a shell splits them; but nothing is expanded, and none of it is run.
split='import shlex, sys; sys.stdout.write("".join(f"{word}\0" for word in shlex.split(sys.stdin.read())))'
if ! printf %s "${PL_ARGS:-}" | alone "$python" -I -c "$split" 2>/dev/null >"$arguments"; then
  echo "::error::policylint: a quotation mark in the input args is not closed"
  exit 2
fi
extra=()
while IFS= read -r -d '' word; do extra+=("$word"); done <"$arguments"
common+=(${extra[@]+"${extra[@]}"})
if [ -n "$base$rendered" ]; then
  links="${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-}/blob/${PL_HEAD_SHA:-${GITHUB_SHA:-HEAD}}"
  command=(diff -C "$checkout" --format text --output "markdown=$report" --output "summary=$summary" --output "github=$annotations")
  command+=(--output "json-v1=$data")
  # Manifests that the job rendered stand nowhere to be linked to.
  if [ -n "${GITHUB_REPOSITORY:-}" ] && { [ -z "$rendered" ] || asked ls-files --error-unmatch -- "$PL_RENDERED_AFTER"; }; then
    shown_at=$links
    command+=(--links "$links")
  fi
  command+=(--graph "${PL_GRAPH:-}")
  # A reader's clone has the branch and its base, not the merge commit of this runner.
  if [ -z "$rendered" ] && [ -n "${GITHUB_BASE_REF:-}" ] && [ -n "${PL_HEAD_SHA:-}" ]; then
    revisions="origin/$GITHUB_BASE_REF...${PL_HEAD_SHA:0:12}"
    if [[ $revisions =~ ^[A-Za-z0-9_./-]+$ ]]; then command+=(--revisions "$revisions"); fi
  fi
  if [ -n "$rendered" ]; then
    command+=(--rendered-before "${PL_RENDERED_BEFORE:-}" --rendered-after "${PL_RENDERED_AFTER:-}" "${common[@]}" --)
    if [ "${paths[*]}" != . ]; then command+=("${paths[@]}"); fi # which policylint refuses, with a reason
  else
    command+=("${common[@]}" -- "$base..HEAD" "${paths[@]}")
  fi
else
  command=(lint -C "$checkout" --format text --output "summary=$summary" "${common[@]}" -- "${paths[@]}")
fi

# What is printed holds names out of manifests, and the runner takes commands from the log: until it meets a word that
# nobody could know beforehand, it heeds none.
token=$(alone "$python" -I -c 'import secrets; print(secrets.token_hex(32))')
code=0
printf '::stop-commands::%s\n' "$token"
alone "$python" -I -m policylint "${command[@]}" || code=$?
printf '\n::%s::\n' "$token"

if [ "${#of_state[@]}" -gt 0 ] && [ "$code" -le 1 ]; then
  if [ -n "$rendered" ]; then tree=("$PL_RENDERED_AFTER"); else tree=("${paths[@]}"); fi
  # Options that lint has, too, hold for it as well; diff has others, with which it is asked without any.
  alone "$python" -I -m policylint lint -C "$checkout" "${of_state[@]}" ${extra[@]+"${extra[@]}"} -- "${tree[@]}" >/dev/null 2>&1 ||
    alone "$python" -I -m policylint lint -C "$checkout" "${of_state[@]}" -- "${tree[@]}" >/dev/null || true
fi

# Annotations of new findings: the only commands that are meant.
if [ -s "$annotations" ]; then grep -E '^::(error|warning|notice)( [^:]*)?::' "$annotations" || true; fi

if [ -s "$summary" ]; then
  head -c "$summary_budget" "$summary" >>"$GITHUB_STEP_SUMMARY"
  if [ "$(wc -c <"$summary")" -gt "$summary_budget" ]; then
    printf '\n\n(cut: the whole report is in the log)\n' >>"$GITHUB_STEP_SUMMARY"
  fi
fi

{
  echo "exit-code=$code"
  if [ -s "$sarif" ]; then echo "sarif-file=$sarif"; else echo "sarif-file="; fi
  if [ -s "$data" ]; then
    echo "comment-file=$report"
    printf '%s\n' "${PL_PR:-}" >"$folder/pr-number"
    cp -- "$data" "$folder/diff.json"
    printf '%s\n' "data-file=$data" "links=${shown_at:-}"
    alone "$python" -I "$ACTION_PATH/.github/action/outputs.py" "$data"
  else
    printf '%s\n' comment-file= data-file= new-findings= fixed-findings= routes-changed=
  fi
} >>"$GITHUB_OUTPUT"
