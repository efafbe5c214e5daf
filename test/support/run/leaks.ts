// Texts that a log must never have, and a log that checks for them; every service of a test writes to one.
import pino, { type Level, type Logger, type StreamEntry } from 'pino'
import { secrets } from '../auth/secrets.js'
import type { Teardown } from '../teardown.js'

/** Personal data and secrets, for every test. */
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

/** The lines that have a forbidden text, each with its kind. @param more texts that this test makes up */
export function leaksIn (log: string, more: readonly string[] = []): string[] {
  return log.split('\n').flatMap((line) => {
    const found = Object.entries(forbidden).flatMap(([what, pattern]) => pattern.test(line) ? [what] : [])
    const madeUp = more.filter((text) => line.includes(text))
    return found.length + madeUp.length > 0 ? [`${[...found, ...madeUp].join(', ')}: ${line.slice(0, 2_000)}`] : []
  })
}

/** @throws if the output has a forbidden text */
export function assertClean (name: string, log: string, more: readonly string[] = []): void {
  const leaks = leaksIn(log, more)
  if (leaks.length > 0) throw new Error(`${name} logs what it must not:\n${leaks.slice(0, 5).join('\n')}`)
}

/**
 * A log of all levels but the finest. It goes nowhere unless LOG_LEVEL is set, and fails a test that leaks.
 * @param more as of `leaksIn`; texts that a test adds later count from then on
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
