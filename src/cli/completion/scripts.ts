// The scripts that a shell loads. Each calls `drover __complete` for the words that may follow;
// kubectl's `kubectl drover` uses the same answer. Contains no command names.

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** The last line of an answer, as in Cobra's programs: whether the shell adds file names. */
export const endings = { withFiles: ':0', withoutFiles: ':4' } as const;

const bash = `# bash completion for drover. Load it with: source <(drover completion bash)
_drover() {
  local word words=("\${COMP_WORDS[@]:1:COMP_CWORD}") line
  # A word with = or : is in several pieces here.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    local cur cword
    _get_comp_words_by_ref -n =: -w words -c cur -i cword
    words=("\${words[@]:1:cword}")
  fi
  word="\${words[\${#words[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == '${endings.withFiles}' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
    elif [[ -n "$line" && "$line" != :* ]]; then
      COMPREPLY+=("$line")
    fi
  done < <("\${COMP_WORDS[0]}" __complete -- "\${words[@]}" 2>/dev/null)
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$word"; fi
}
complete -F _drover drover
`;

const zsh = `#compdef drover
# zsh completion for drover. Load it with: source <(drover completion zsh)
_drover() {
  local -a answer found
  answer=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)answer:#:*}")
  found=("\${(@)found:#}")
  (( \${#found} )) && compadd -- "\${found[@]}"
  if [[ -n "\${answer[(r)${endings.withFiles}]}" ]]; then _files; fi
}
if [ "$funcstack[1]" = "_drover" ]; then _drover "$@"; else compdef _drover drover; fi
`;

const fish = `# fish completion for drover. Load it with: drover completion fish | source
function __drover_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = '${endings.withFiles}'
      __fish_complete_path (commandline -ct)
    else if not string match -q ':*' -- "$line"
      echo $line
    end
  end
end
complete -c drover -f -a '(__drover_complete)'
`;

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
