// What an action on parked events has come to, for people or for programs.
import { printable, printJson, say } from '../running/output.js'

export interface Done {
  action: 'retry' | 'skip' | 'resume'
  projection: string
  stream?: string
  revision?: string
}

/** For programs it has the form of what acts on a projection. What fails is told on stderr, and is no outcome. */
export function tellOutcome ({ action, projection, ...of }: Done, message: string, json = false): void {
  if (json) printJson({ action, projection, ...of, state: 'done', message })
  else say(printable(message))
}
