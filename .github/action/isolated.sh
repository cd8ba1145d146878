# Sourced by the action's scripts, before anything else is run: the checkout holds what the author of a pull request
# wrote, and none of it may decide which program runs, or what that program loads.
#
# Sets `checkout` (where the step began) and PATH, goes to RUNNER_TEMP, and defines `alone`.

checkout=$(pwd -P)
workspace=$(cd -P -- "${GITHUB_WORKSPACE:-$checkout}" && pwd -P)

# Directories of PATH that are absolute and, links resolved, outside of the checkout.
search=
IFS=: read -r -d '' -a entries <<<"$PATH" || true
for entry in "${entries[@]}"; do
  entry=${entry%$'\n'}
  case $entry in /*) ;; *) continue ;; esac
  entry=$(cd -P -- "$entry" 2>/dev/null && pwd -P) || continue
  case $entry/ in "$workspace"/* | "$checkout"/*) continue ;; esac
  search=${search:+$search:}$entry
done
export PATH=$search
unset entries entry search

cd -- "$RUNNER_TEMP"

# The variables that a program gets; a script adds what its program needs. No PYTHON*, no GIT_*, no tokens.
needed=(PATH HOME TMPDIR LANG LC_ALL RUNNER_TEMP CI GITHUB_ACTIONS XDG_CACHE_HOME NO_COLOR FORCE_COLOR)
readonly network=(HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE)

# alone COMMAND...: run it with the variables of `needed` and no others.
alone() {
  local name given=()
  for name in "${needed[@]}"; do
    if [ -n "${!name+set}" ]; then given+=("$name=${!name}"); fi
  done
  env -i "${given[@]}" "$@"
}
