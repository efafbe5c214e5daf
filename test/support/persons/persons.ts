// Checks what must hold after persons are erased.
import type { Test } from 'tap'
import { secrets } from '../auth/secrets.js'
import type { TestService } from '../service.js'
import type { Answer } from '../running-service.js'
import { dataDir, run } from '../ringledger.js'
import { EventLog } from '../../../src/log/event-log.js'
import { collect } from '../back-ends/scratch-event-store.js'
import pg from 'pg'
import { secretKeys } from '../../../src/services/complete-config.js'
import { openSealing } from '../../../src/services/connections.js'
import { toStoredEvent } from '../../../src/log/stored.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { openEvents } from '../../../src/privacy/events.js'
import { unseal, type SealedRow } from '../../../src/privacy/sealed-text.js'
import { ownerOfPart } from '../../../workers/persons/exports.js'
import type { ScratchRedis } from '../back-ends/redis.js'

/** Looks at hidden events, too. Later requests and their exports may have the text sealed. */
export async function hasNothingOf (t: Test, service: TestService, text: string): Promise<void> {
  const found = await findEverywhere(service, [text])
  t.strictSame(found.filter((place) => !place.endsWith(', sealed')), [], `nothing has ${text}`)
}

export type Sent = Awaited<ReturnType<typeof sender>>

/** `dataOf` sends as user 1, or as the engine, and throws what is refused. */
export async function sender (service: TestService) {
  const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
  return {
    service,
    async dataOf (method: string, path: string, body?: object): Promise<Answer['body']> {
      const answer = await service.call(method, path, body, { headers: path.startsWith('/engine') ? engine : {} })
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body.data
    }
  }
}

/** The names that `Positions` uses. */
export const readers = ['leads', 'calls', 'deliveries'] as const

/** Resolves once these have reached the end of the log. */
export async function haveCome (
  { parts: { positions, streams } }: Pick<TestService, 'parts'>, who: readonly string[] = readers
): Promise<void> {
  const head = await streams.head()
  for (const reader of who) {
    if (!await positions.reached(reader, head, 20_000)) throw new Error(`${reader} is behind`)
  }
}

const sealedRows = `
  SELECT 'ledger.work' AS name, user_id AS owner, input ->> 'key_id' AS key_id, input ->> 'sealed' AS sealed
  FROM ledger.work WHERE input ? 'sealed'
  UNION ALL SELECT 'ledger.person_exports', ${ownerOfPart}, key_id, encode(sealed, 'base64') FROM ledger.person_exports
  UNION ALL SELECT 'ledger.idempotency_keys', user_id, answer_key_id, encode(answer, 'base64')
  FROM ledger.idempotency_keys WHERE answer IS NOT NULL`

/** Asserts that the read models of persons are folds of the log, even after a replay. */
export async function areFolds (t: Test, { urls }: Pick<TestService, 'urls'>): Promise<void> {
  const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
  for (const what of ['verify', 'replay', 'verify']) {
    for (const name of ['leads', 'calls']) {
      const { code, stdout, stderr } = await run(t, ['projections', what, name], env)
      t.equal(code, 0, `${what} ${name}: ${stdout}${stderr}`)
    }
  }
}

/** A word that ends in a digit does not match inside a longer number. @returns the places that have any of the words */
export async function findEverywhere (
  service: TestService, words: readonly string[], redis?: ScratchRedis
): Promise<string[]> {
  const { call, client, config, parts: { pool }, urls } = service
  const any = words.map((word) => `${word.replace(/[.+]/g, '\\$&')}${/\d$/.test(word) ? '(?![0-9])' : ''}`).join('|')
  const [pattern, found] = [new RegExp(any, 'i'), new Set<string>()]
  const look = (name: string, text: string) => { if (pattern.test(text)) found.add(name) }
  await Promise.all([log(), tables(), sealed(), downloads(), filesOfRedis()])
  return [...found].sort()

  async function log (): Promise<void> {
    const events = (await collect(client.readAll())).flatMap(({ event }) => event ? [toStoredEvent(event)] : [])
    const textOf = ({ data, ...event }: typeof events[number]) => JSON.stringify(
      { ...event, data: data instanceof Uint8Array ? Buffer.from(data).toString() : data, revision: '', position: '' })
    for (const event of events) look(`the log: ${event.type} of ${event.stream}`, textOf(event))
    const connection = new EventStoreConnection(urls.eventStoreUrl)
    const { personKeys: keys } = openSealing(new EventLog(connection), pool, config)
    for (const event of await openEvents(keys, events)) look(`the log: ${event.type} of ${event.stream}`, textOf(event))
    await connection.close()
  }

  async function tables (): Promise<void> {
    const { rows } = await pool.query<{ name: string }>(`
      SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)
    const bytes = words.map((word) => Buffer.from(word).toString('hex')).join('|')
    const looked = rows.map(({ name }) =>
      `SELECT ${pg.escapeLiteral(name)} AS name WHERE EXISTS (SELECT FROM ${name} AS found WHERE found::text ~* $1)`)
    const having = await pool.query<{ name: string }>(looked.join(' UNION ALL '), [`${any}|${bytes}`])
    for (const { name } of having.rows) found.add(name)
  }

  async function sealed (): Promise<void> {
    const { rows } = await pool.query<SealedRow & { name: string, owner: string }>(sealedRows)
    for (const { name, owner, ...row } of rows) look(`${name}, sealed`, unseal(secretKeys(config), owner, row))
  }

  async function downloads (): Promise<void> {
    for (const path of ['/user/leads/export', '/user/calls/export']) {
      const headers = { authorization: `Bearer ${await service.token('1')}` }
      const answer = await fetch(`${service.url}${path}`, { headers })
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
      look(path, await answer.text())
    }
    for (const path of ['leads', 'calls', 'blacklist', 'webhook-deliveries']) {
      look(`/user/${path}`, JSON.stringify(await call('GET', `/user/${path}?per_page=100`)))
    }
  }

  async function filesOfRedis (): Promise<void> {
    for (const file of await redis?.files() ?? []) look('files of Redis', file.toString('latin1'))
  }
}
