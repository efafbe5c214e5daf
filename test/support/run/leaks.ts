// What must never stand in a log, and logs that are read for it: every service that a test runs has one.
import pino, { type Level, type Logger, type StreamEntry } from 'pino'
import { secrets } from '../auth/secrets.js'
import type { Teardown } from '../teardown.js'

/** Users' data and ours, whatever the test that makes it. */
const forbidden: Record<string, RegExp> = {
  'a phone number': /(?<![\w./-])\+[1-9]\d{7,14}(?!\d)/,
  'a phone number in a URL': /%2B[1-9]\d{7,14}/i,
  'an e-mail address': /[\w.+-]+(@|%40)[\w-]+(\.[\w-]+)*\.(com|org|net|io|example)\b/i,
  'a token': /\beyJ[\w-]{8,}\.[\w-]{8,}|Bearer [\w.-]{8,}/,
  'a webhook secret': /whsec_[A-Za-z0-9+/=]{8,}/,
  'a password in a URL': /:\/\/(?!user:password@)[^\s/:@"]*:[^\s/@"]+@/, // refusals show how one is written
  'the query string of a URL': /https?:\/\/[^\s"?]+\?[\w%-]+=/,
  'a secret of the service': new RegExp(Object.values(secrets).join('|'))
}

/** Each line that holds what it must not, with what that is. `more` are texts that this test makes up. */
export function leaksIn (log: string, more: readonly string[] = []): string[] {
  return log.split('\n').flatMap((line) => {
    const found = Object.entries(forbidden).flatMap(([what, pattern]) => pattern.test(line) ? [what] : [])
    const madeUp = more.filter((text) => line.includes(text))
    return found.length + madeUp.length > 0 ? [`${[...found, ...madeUp].join(', ')}: ${line.slice(0, 2_000)}`] : []
  })
}

/** Fails the test of `t` when the output of something that logs holds what it must not. */
export function assertClean (name: string, log: string, more: readonly string[] = []): void {
  const leaks = leaksIn(log, more)
  if (leaks.length > 0) throw new Error(`${name} logs what it must not:\n${leaks.slice(0, 5).join('\n')}`)
}

/**
 * A log of all levels but the finest. It goes nowhere unless LOG_LEVEL is set, and fails a test that leaks.
 * @param more as of `leaksIn`; what is added is looked for from then on
 */
export function readLog (t: Teardown, more: readonly string[] = []): Logger {
  const leaks: string[] = []
  t.teardown(() => { assertClean('the service', leaks.join('\n'), more) })
  const reading = { write (line: string) { if (leaksIn(line, more).length > 0) leaks.push(line) } }
  const shown = process.env.LOG_LEVEL as Level | undefined
  const streams: StreamEntry[] = [{ level: 'debug', stream: reading }]
  if (shown) streams.push({ level: shown, stream: process.stdout })
  return pino({ level: 'debug' }, pino.multistream(streams))
}
