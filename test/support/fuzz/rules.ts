// What holds for the answer to any body at all, and the requests that find out.
import type { Test } from 'tap'
import { Pool } from 'undici'
import { runs, seedOf } from '@ringledger/embedded-postgres/testing'
import type { TestService } from '../service.js'
import type { FuzzBody } from './bodies.js'

export interface FuzzAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  // A test looks into answers of every shape; a wrong guess fails it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any
}

export type Send = (
  method: 'GET' | 'POST' | 'PUT', path: string, bytes?: Buffer, headers?: Record<string, string>
) => Promise<FuzzAnswer>

/** After that there is no answer. */
const hangsAfterMs = 15_000

/** How many requests run at the same time, one at each place. */
export const places = 24

/** How many bodies are thrown at a route. */
export const bodyCount = process.env.FUZZ_TIMES === undefined ? 100 : runs(250)

/** The seed of this run, printed; `FUZZ_SEED` repeats a run. `npm test` has a fixed one. Gives the file time. */
export function fuzzSeed (t: Test): number {
  t.setTimeout(300_000)
  const seed = seedOf('FUZZ_SEED')
  t.comment(`FUZZ_SEED=${seed}`)
  return seed
}

/** Sends as user 1 over connections that are kept. */
export async function sender (t: Test, service: TestService): Promise<Send> {
  const pool = new Pool(service.url, { connections: places, headersTimeout: hangsAfterMs, bodyTimeout: hangsAfterMs })
  t.teardown(() => pool.close())
  const authorization = `Bearer ${await service.token('1')}`
  return async (method, path, bytes, headers = {}) => {
    const response = await pool.request({
      method,
      path,
      body: bytes ?? null,
      headers: { authorization, ...(bytes && { 'content-type': 'application/json' }), ...headers }
    })
    const text = await response.body.text()
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) }
  }
}

/**
 * Runs `each` for all bodies, many at a time and one after the other at each of `places`. What it answers is what is
 * wrong with the outcome; the first few are printed with their bodies.
 */
export async function throwAll<Place> (
  t: Test,
  bodies: readonly FuzzBody[],
  places: readonly Place[],
  each: (body: FuzzBody, place: Place) => Promise<{ status: number, wrong: string | undefined }>
): Promise<void> {
  const rest = bodies.values()
  const counts = new Map<string, number>()
  const failures: string[] = []
  await Promise.all(places.map(async (place) => {
    for (const body of rest) {
      const { status, wrong } = await each(body, place)
      counts.set(`${body.kind} ${status}`, (counts.get(`${body.kind} ${status}`) ?? 0) + 1)
      if (wrong !== undefined) {
        failures.push(`${wrong}\n  ${body.kind} ${body.bytes.subarray(0, 2_000).toString('latin1')}`)
      }
    }
  }))
  t.comment([...counts].sort().map(([name, count]) => `${name}: ${count}`).join(', '))
  t.strictSame(failures.slice(0, 5), [], 'no body broke a rule')
}

/** How an answer breaks a rule that holds for all of them, if it does. */
export function brokenRule (
  { kind }: FuzzBody, { status, headers, body }: FuzzAnswer, allowed: readonly number[]
): string | undefined {
  if (!allowed.includes(status)) return `a ${status}`
  if (!String(headers['content-type']).startsWith('application/json')) return 'an answer that is no JSON'
  if (typeof body.message !== 'string' || body.message === '') return 'no message'
  const keys = Object.keys(body).sort().join()
  if (status < 300) return keys === 'data,message' ? undefined : `a success with ${keys}`
  if (kind === 'valid') return `a valid body was refused: ${JSON.stringify(body)}`
  if (status !== 422) return keys === 'message' ? undefined : `a ${status} with ${keys}`
  const lists = Object.values<unknown>(body.errors ?? {})
  const areTold = lists.length > 0 && lists.every((list) =>
    Array.isArray(list) && list.length > 0 && list.every((word) => typeof word === 'string' && word !== ''))
  return areTold ? undefined : `a 422 that does not say why: ${JSON.stringify(body)}`
}

/** What the caller meant by these bytes, and as every JSON reader reads it again. */
export function sent ({ bytes }: FuzzBody): Record<string, unknown> {
  return written(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
}

/** As it comes back from JSON: without the sign of zero. */
export const written = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))

/** How many events of each type the log holds. */
export async function eventCounts ({ client }: TestService): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const { event } of client.readAll()) {
    if (event) counts.set(event.type, (counts.get(event.type) ?? 0) + 1)
  }
  return counts
}
