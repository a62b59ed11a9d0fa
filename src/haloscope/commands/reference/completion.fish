# Each function prints what may stand in place of the word under the cursor.

function _haloscope_kernel --description 'the first word of the command line that is a kernel'
  for word in (commandline -opc)
    if test -n "$(_haloscope_parameters $word)"
      echo $word
      return
    end
  end
end

function _haloscope_params
  set -l kernel (_haloscope_kernel)
  set -l parts (string split -m 1 = -- (commandline -ct))
  if test (count $parts) -eq 2
    for value in (_haloscope_values $kernel $parts[1])
      echo "$parts[1]=$value"
    end
  else
    for key in (_haloscope_parameters $kernel)
      echo "$key="
    end
  end
end

function _haloscope_known_clusters
  printf '%s\n' $_haloscope_clusters
  for file in clusters/*.toml
    string replace -r '\.toml$' '' (basename $file)
  end
end

function _haloscope_places
  printf '%s\n' local $_haloscope_sites
  _haloscope_known_clusters
end

function _haloscope_toml_files
  for path in (__fish_complete_path (commandline -ct))
    string match -q -r '(\.toml|/)(\t|$)' -- $path; and echo $path
  end
end

function _haloscope_file_clusters
  _haloscope_known_clusters
  _haloscope_toml_files
end

function _haloscope_file_studies
  printf '%s\n' $_haloscope_studies
  _haloscope_toml_files
end

function _haloscope_dir_results --description 'any folder where none of results is near'
  set -l every (__fish_complete_directories (commandline -ct) | string replace -r '\t.*' '')
  set -l near
  for folder in $every
    test -e $folder/records.jsonl -o -e $folder/plan.json; or count $folder/*/records.jsonl >/dev/null
    and set -a near $folder
  end
  if test (count $near) -gt 0
    printf '%s\n' $near
  else
    printf '%s\n' $every
  end
end
