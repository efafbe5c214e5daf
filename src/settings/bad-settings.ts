// What is wrong with the settings, in words that show each value that is no secret.
import type { FieldErrors } from '../domain/rejection.js'
import { secretNames } from './secret-files.js'

/** Longer ones are cut. */
const longestShown = 100

/** Every setting that is wrong, one line each. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings'
  /** `environment` is what they were read from. */
  constructor (readonly errors: FieldErrors, environment: NodeJS.ProcessEnv = {}) {
    const lines = Object.entries(errors).flatMap(([name, problems]) =>
      problems.map((problem) => `${name} ${problem}${shown(name, problem, environment)}`))
    super(lines.map(inOneLine).join('\n'))
  }
}

/** A login may stand in what was set in the wrong place. */
const inOneLine = (line: string) => line.replaceAll(/\/\/(?!user:password@)\S*@/g, '//…@').replaceAll(/\p{Cc}/gu, ' ')

function shown (name: string, problem: string, environment: NodeJS.ProcessEnv): string {
  const file = environment[`${name}_FILE`]
  if (file && !environment[name]) return ` (it comes from the file ${file})`
  const value = environment[name]
  if (!value || problem.includes(value)) return ''
  if (name.endsWith('_URL')) return problem.startsWith('must be a URL') ? schemeOf(value) : '' // it may have a password
  if (secretNames.some((secret) => secret === name)) return ''
  const start = value.length > longestShown ? `${value.slice(0, longestShown)}…` : value
  return ` (it is ${JSON.stringify(start)})`
}

function schemeOf (url: string): string {
  const scheme = /^[a-z][a-z0-9+.-]{0,30}:\/\//i.exec(url)?.[0]
  return scheme ? ` (it begins with ${scheme})` : ''
}
