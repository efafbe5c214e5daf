// `ringledger completion`: prints shell scripts that complete commands and options, generated from the commands. Each
// finds the commands typed so far and offers what can follow, else file names.
import type { Command } from 'commander'

interface Place {
  /** The commands typed so far, such as `projections list`; empty at the beginning. */
  path: string
  words: Array<{ word: string, about: string }>
}

type Shell = 'bash' | 'zsh' | 'fish'

export function print (shell: Shell, _own: object, { parent }: Command): void {
  if (parent) process.stdout.write({ bash, zsh, fish }[shell](placesOf(parent)))
}

function placesOf (command: Command, path = ''): Place[] {
  const below = command.commands.filter((each) => each.name() !== 'help')
  const words = [
    ...below.map((each) => ({ word: each.name(), about: each.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((word) => ({ word, about: '' }))),
    ...command.options.map(({ long, description }) => ({ word: long ?? '', about: description })),
    { word: '--help', about: 'help for this command' }
  ]
  return [{ path, words }, ...below.flatMap((each) => placesOf(each, `${path} ${each.name()}`.trim()))]
}

const wordsOf = ({ words }: Place) => words.map(({ word }) => word).join(' ')
const pathOf = ({ path }: Place) => path === '' ? "''" : `' ${path}'`

/** `case` patterns of the commands that have a next level, each after its path. */
const known = ([, ...below]: Place[]) => below.map(pathOf).join(' | ')

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

/** Quotes for fish. */
const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`

function fish (places: Place[]): string {
  const lines = places.flatMap(({ path, words }) => words.map(({ word, about }) => {
    const offered = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
    return `complete -c ringledger -n '__ringledger_at "${path}"' ${offered}${about ? ` -d ${quoted(about)}` : ''}`
  }))
  return `# Completes ringledger in fish: ringledger completion fish | source
set -g __ringledger_paths ${places.slice(1).map(({ path }) => quoted(path)).join(' ')}
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
