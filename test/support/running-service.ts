// A running service of a test's own, driven over HTTP.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { request } from 'undici'
import { eventually } from './eventually.js'
import {
  dataDir, ringledger, type Ended, type Environment, type Ringledger, startedDataDir, listeningUrl
} from './ringledger.js'
import type { Teardown } from './teardown.js'
import type { Test } from 'tap'

export interface Request {
  token?: string | undefined
  body?: unknown
  headers?: Record<string, string>
}

export type Call = (method: string, path: string, request?: Request) => Promise<Answer>

export interface RunningService {
  url: string
  dataDir: string
  process: Ringledger
  call: Call
  token (user: string, role?: string): Promise<string>
  stop (signal?: NodeJS.Signals): Promise<Ended>
  /** kill -9 of its whole process group. */
  kill (): Promise<void>
}

interface ServiceOptions {
  env?: Environment
  /** When absent: a copy of one on which it ran before, or an empty one if `env` names servers or keys. */
  dataDir?: string
}

/** Variables that allow receivers on this machine, with a short schedule. */
export const localWebhooks = {
  WEBHOOK_SCHEDULE: '0s,1s', WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
}

/** `ringledger start`, ready to answer. */
export async function startService (
  t: Teardown, { env = {}, dataDir: given }: ServiceOptions = {}
): Promise<RunningService> {
  const folder = given ?? (isOfItsOwn(env) ? dataDir(t) : await startedDataDir(t))
  const process = ringledger(t, ['start'], { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn', ...env })
  const url = await process.says(listeningUrl)
  return {
    url,
    dataDir: folder,
    process,
    call: caller(url),
    token: (user, role) => token(jwtSecret(folder, env), user, role),
    async stop (signal = 'SIGTERM') {
      process.signal(signal)
      return await process.ended
    },
    async kill () {
      process.signal('SIGKILL')
      await process.ended
    }
  }
}

const isOfItsOwn = ({ DATABASE_URL: database, EVENTSTORE_URL: events, LEAD_DIGEST_KEY: key }: Environment) =>
  Boolean(database ?? events ?? key)

/** Resolves when the service at `url` is ready. Before that, an API gives out no ids, so it creates nothing. */
export async function untilReady (url: string): Promise<void> {
  const send = caller(url)
  await eventually(async () => (await send('GET', '/health/ready')).status === 200)
}

/** Calls the API at `url`; sends bodies that are not strings as JSON. */
export function caller (url: string): Call {
  return async (method, path, { token, body, headers } = {}) => {
    const response = await request(`${url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const text = await response.body.text()
    return { status: response.statusCode, headers: headersOf(response.headers), body: text ? JSON.parse(text) : {} }
  }
}

function headersOf (raw: Record<string, string | string[] | undefined>): Headers {
  return new Headers(Object.entries(raw).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one])))
}

export const eventStoreOf = (dataDir: string): string => runFileOf(dataDir).eventStoreUrl

export const databaseUrlOf = (dataDir: string): string => runFileOf(dataDir).databaseUrl

function runFileOf (dataDir: string): { eventStoreUrl: string, databaseUrl: string } {
  return JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8'))
}

/** A bearer token that is good for five minutes. */
export async function token (secret: string, user: string, role?: string): Promise<string> {
  return await new SignJWT(role === undefined ? {} : { role })
    .setProtectedHeader({ alg: 'HS256' }).setSubject(user).setIssuedAt().setExpirationTime('5m')
    .sign(new TextEncoder().encode(secret))
}

function jwtSecret (folder: string, env: Environment): string {
  const file = join(folder, 'secrets.json')
  if (env.JWT_SECRET !== undefined || !existsSync(file)) return env.JWT_SECRET ?? ''
  const { jwtSecret }: { jwtSecret: string } = JSON.parse(readFileSync(file, 'utf8'))
  return jwtSecret
}

export interface Answer {
  status: number
  headers: Headers
  // Tests look into answers of every shape; a wrong guess fails the test.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any
}

const leak = /node_modules|\.[jt]s\b|\bat \S+ \(|select |insert |postgres|ledger|stack|esdb|ECONN|FST_|127\.0\.0\.1/i

/** Asserts status, JSON, a message that reveals no internals, and `errors` only in a 422. */
export function isRefusal (t: Test, { status, headers, body }: Answer, expected: number, title: string): void {
  t.strictSame(
    {
      status,
      type: headers.get('content-type'),
      keys: Object.keys(body),
      says: typeof body.message,
      leaks: leak.exec(JSON.stringify(body))?.[0]
    },
    {
      status: expected,
      type: 'application/json; charset=utf-8',
      keys: expected === 422 ? ['message', 'errors'] : ['message'],
      says: 'string',
      leaks: undefined
    },
    title)
}

/** @param series name and labels, exactly as they stand before the value */
export function valueOf (text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
