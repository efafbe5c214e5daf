// The Dockerfile in its parts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../src/package-root.js'

export interface Instruction { name: string, args: string }

export interface Stage {
  name: string
  /** An image, or the name of a former stage. */
  from: string
  instructions: Instruction[]
}

export interface Copy {
  /** The stage that it is copied from; absent for this repository. */
  from?: string | undefined
  sources: string[]
  target: string
}

export const stages = stagesOf(readFileSync(join(packageRoot, 'Dockerfile'), 'utf8'))

export const stage = (name: string): Stage => {
  const found = stages.find((each) => each.name === name)
  if (!found) throw new Error(`The Dockerfile has no stage ${name}`)
  return found
}

export const instructions = ({ instructions }: Stage, name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ args }) => args)

export const copies = (of: Stage): Copy[] => instructions(of, 'COPY').map((args) => {
  const words = args.split(/\s+/)
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  return { from, sources: words.slice(0, -1), target: words.at(-1) ?? '' }
})

function stagesOf (text: string): Stage[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const found: Stage[] = []
  for (const line of lines) {
    const [, name = '', args = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    const [, from = '', as = ''] = /^(\S+)(?: AS (\S+))?$/.exec(args) ?? []
    if (name === 'FROM') found.push({ from, name: as, instructions: [] })
    else found.at(-1)?.instructions.push({ name, args })
  }
  return found
}
