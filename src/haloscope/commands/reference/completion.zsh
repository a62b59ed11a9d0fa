# Each function adds what may stand in place of the word under the cursor.

_haloscope_kernel() {  # the first word of the command line that is a kernel
  local word
  for word in $words; do
    [[ -z "$(_haloscope_parameters "$word")" ]] || { print -r -- "$word"; return; }
  done
}

_haloscope_params() {
  local kernel="$(_haloscope_kernel)" key="${PREFIX%%=*}"
  if compset -P 1 '*='; then
    compadd -- ${=$(_haloscope_values "$kernel" "$key")}
  else
    compadd -S = -q -- ${=$(_haloscope_parameters "$kernel")}
  fi
}

_haloscope_known_clusters() {
  compadd -- ${=_haloscope_clusters} clusters/*.toml(N:t:r)
}

_haloscope_places() {
  compadd -- local ${=_haloscope_sites}
  _haloscope_known_clusters
}

_haloscope_file_clusters() {
  _haloscope_known_clusters
  _files -g '*.toml'
}

_haloscope_file_studies() {
  compadd -- ${=_haloscope_studies}
  _files -g '*.toml'
}

_haloscope_holds_results() {  # whether the folder $REPLY is one of results, or holds such
  local -a inside=($REPLY/(records.jsonl|plan.json)(N) $REPLY/*/records.jsonl(N))
  (( $#inside ))
}

_haloscope_dir_results() {  # any folder where none of results is near
  _path_files -g '*(-/+_haloscope_holds_results)' || _files -/
}
