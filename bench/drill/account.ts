// Counts what became of everything: in the log, in reads, at the receiver, and in the projections.
import { setTimeout as delay } from 'node:timers/promises'
import { projections } from '../../projections/index.js'
import { ringledger, run } from '../support/run.js'
import type { Book, Kept } from './book.js'
import { namesInLog } from './in-log.js'
import type { User } from './load.js'
import type { DrillReceiver } from './receiver.js'
import type { Accounts } from './report.js'
import type { DrilledService } from './service.js'

interface Drill {
  service: DrilledService
  users: readonly User[]
  book: Book
  receiver: DrillReceiver
  /** The user of the walk. */
  walker: string
}

/** As long as they go on to come, webhooks are awaited. */
const webhooksWithinMs = 60_000
const readsWithinMs = 30_000
const readsAtOnce = 16

export async function accounts (drill: Drill): Promise<Accounts> {
  await untilAllArrived(drill)
  const names = await namesInLog(drill.service.env, drill.walker)
  return {
    log: inLog(drill.book, names),
    reads: await reads(drill, names),
    webhooks: webhooks(drill),
    checks: await checks(drill.service)
  }
}

function inLog ({ acknowledged }: Book, names: ReadonlyMap<string, number>): Accounts['log'] {
  const found = [...names]
  return {
    found: found.length,
    missing: [...acknowledged].filter((name) => !names.has(name)),
    doubled: found.flatMap(([name, times]) => times > 1 ? name : []),
    unaccounted: found.flatMap(([name]) => acknowledged.has(name) ? [] : name)
  }
}

async function reads (
  { service, users, book }: Drill, names: ReadonlyMap<string, number>
): Promise<Accounts['reads']> {
  const tokens = new Map(users.map(({ id, token }) => [id, token]))
  const wanted = [...book.kept, ...users.flatMap((user) => lastMessage(user, [...names.keys()]))]
  const giveUpAt = performance.now() + readsWithinMs
  const wrong: string[] = []
  const waiting = [...wanted]
  await Promise.all(Array.from({ length: readsAtOnce }, async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const said = await readUntil(giveUpAt, service, next, tokens.get(next.user))
      if (said !== undefined) wrong.push(`GET ${next.path}: ${said}`)
    }
  }))
  return { asked: wanted.length, wrong }
}

/** @returns what it answers, when it still is not as it should be at the end */
async function readUntil (
  giveUpAt: number, { client }: DrilledService, { path, holds }: Kept, token: string | undefined
): Promise<string | undefined> {
  for (;;) {
    const answer = await client.send('GET', path, { token }).catch(() => undefined)
    if (answer?.status === 200 && answer.body.includes(JSON.stringify(holds))) return undefined
    if (performance.now() > giveUpAt) return `${answer?.status ?? 'no answer'}, without ${holds}`
    await delay(100)
  }
}

/** What an assistant says now is what it was last told, in the order of the log. */
function lastMessage ({ id, assistant }: User, names: readonly string[]): Kept[] {
  const begin = `assistant ${assistant}: `
  const last = names.findLast((name) => name.startsWith(begin))
  return last ? [{ user: id, path: `/user/assistant/${assistant}`, holds: last.slice(begin.length) }] : []
}

async function untilAllArrived ({ book, receiver: { arrived } }: Drill): Promise<void> {
  let [count, since] = [-1, 0]
  while ([...book.calls].some((call) => !arrived.has(call))) {
    if (arrived.size !== count) [count, since] = [arrived.size, performance.now()]
    if (performance.now() - since > webhooksWithinMs) return
    await delay(200)
  }
}

function webhooks ({ book: { calls }, receiver }: Drill): Accounts['webhooks'] {
  const arrived = [...receiver.arrived]
  return {
    calls: calls.size,
    received: receiver.arrived.size,
    missing: [...calls].filter((call) => !receiver.arrived.has(call)),
    doubled: arrived.flatMap(([call, ids]) => ids.size > 1 ? call : []),
    unaccounted: arrived.flatMap(([call]) => calls.has(call) ? [] : call),
    repeated: receiver.repeated()
  }
}

/** The product's own: every projection against the log, and a row for every call. */
async function checks ({ env }: DrilledService): Promise<Accounts['checks']> {
  const commands = [...projections.map(({ name }) => ['projections', 'verify', name]), ['webhooks', 'stats']]
  return await Promise.all(commands.map(async (command) => {
    const problem = await run(ringledger(...command), env).then(() => undefined, (error: Error) => error.message)
    return { command: command.join(' '), problem }
  }))
}
