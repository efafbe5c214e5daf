// Where a command line can stand, and the words that can follow there: from the commands themselves.
import type { Command } from 'commander'

export interface Place {
  /** The commands so far, such as `projections list`; empty at the beginning. */
  path: string
  words: Word[]
}

export interface Word {
  word: string
  about: string
}

/** Of a command with all below it. */
export function placesOf (command: Command, path = ''): Place[] {
  const below = command.commands.filter((each) => each.name() !== 'help')
  const words = [
    ...below.map((each) => ({ word: each.name(), about: each.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((word) => ({ word, about: '' }))),
    ...command.options.map(({ long, description }) => ({ word: long ?? '', about: description })),
    { word: '--help', about: 'help for this command' }
  ]
  return [{ path, words }, ...below.flatMap((each) => placesOf(each, `${path} ${each.name()}`.trim()))]
}
