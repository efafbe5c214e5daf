// The scripts of the shells. Each finds the commands that were typed, and offers what can follow; else names of files.
import type { Place } from './places.js'

export type Shell = 'bash' | 'zsh' | 'fish'

export const scripts: Record<Shell, (places: Place[]) => string> = { bash, zsh, fish }

const wordsOf = ({ words }: Place) => words.map(({ word }) => word).join(' ')

/** Patterns of `case` for the commands that lead on, each behind the path to it. */
const known = (places: Place[]) =>
  places.filter(({ path }) => path !== '').map(({ path }) => `'${` ${path}`}'`).join(' | ')

const pathOf = ({ path }: Place) => path === '' ? "''" : `' ${path}'`

function bash (places: Place[]): string {
  return `# Completes ringledger in bash: eval "$(ringledger completion bash)"
_ringledger () {
  local at='' words='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$at \${COMP_WORDS[index]}" in
      ${known(places)}) at="$at \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$at" in
${places.map((place) => `    ${pathOf(place)}) words='${wordsOf(place)}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ringledger ringledger
`
}

function zsh (places: Place[]): string {
  return `# Completes ringledger in zsh, after compinit: eval "$(ringledger completion zsh)"
_ringledger () {
  local at='' word
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${known(places)}) at="$at $word" ;;
    esac
  done
  case "$at" in
${places.map((place) => `    (${pathOf(place)}) offered=(${wordsOf(place)}) ;;`).join('\n')}
  esac
  compadd -a offered || _files
}
compdef _ringledger ringledger
`
}

/** In single quotes of fish. */
const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`

function fish (places: Place[]): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path)).join(' ')
  const lines = places.flatMap(({ path, words }) => words.map(({ word, about }) => {
    const offered = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
    return `complete -c ringledger -n '__ringledger_at "${path}"' ${offered}${about ? ` -d ${quoted(about)}` : ''}`
  }))
  return `# Completes ringledger in fish: ringledger completion fish | source
set -g __ringledger_paths ${paths}
function __ringledger_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    contains -- "$next" $__ringledger_paths; and set at "$next"
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}
