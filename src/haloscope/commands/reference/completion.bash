# Each function prints what may stand in place of its first argument, the word under the cursor.

_haloscope_kernel() {  # the first word of the command line that is a kernel
  local word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ -z "$(_haloscope_parameters "$word")" ] || { echo "$word"; return; }
  done
}

_haloscope_params() {  # readline splits key=value at "=", unless COMP_WORDBREAKS has none
  local kernel before=${COMP_WORDS[COMP_CWORD-1]}
  kernel=$(_haloscope_kernel)
  if [ "$1" = = ]; then
    compgen -W "$(_haloscope_values "$kernel" "$before")"
  elif [ "$before" = = ]; then
    compgen -W "$(_haloscope_values "$kernel" "${COMP_WORDS[COMP_CWORD-2]}")" -- "$1"
  elif [[ $1 == *=* ]]; then
    compgen -P "${1%%=*}=" -W "$(_haloscope_values "$kernel" "${1%%=*}")" -- "${1#*=}"
  else
    compgen -S = -W "$(_haloscope_parameters "$kernel")" -- "$1"
  fi
}

_haloscope_own_clusters() {
  local file
  for file in clusters/*.toml; do
    [ ! -e "$file" ] || basename "$file" .toml
  done
}

_haloscope_places() {
  compgen -W "local $_haloscope_sites $_haloscope_clusters $(_haloscope_own_clusters)" -- "$1"
}

_haloscope_toml_files() {
  compgen -f -X '!*.toml' -- "$1"
  [[ $1 != */* ]] || compgen -d -- "$1"
}

_haloscope_file_clusters() {
  compgen -W "$_haloscope_clusters $(_haloscope_own_clusters)" -- "$1"
  _haloscope_toml_files "$1"
}

_haloscope_file_studies() {
  compgen -W "$_haloscope_studies" -- "$1"
  _haloscope_toml_files "$1"
}

_haloscope_dir_results() {  # folders of results, and folders with such; any where none is near
  local folder found=
  while IFS= read -r folder; do
    if [ -e "$folder/records.jsonl" ] || [ -e "$folder/plan.json" ] ||
      compgen -G "$folder/*/records.jsonl" >/dev/null; then
      printf '%s\n' "$folder"
      found=yes
    fi
  done < <(compgen -d -- "$1")
  [ -n "$found" ] || compgen -d -- "$1"
}
