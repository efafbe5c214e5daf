// Works on an erasure as a worker does, counts what it does to the outside, and is killed at one of these points.
import { writeSync } from 'node:fs'
import { pino } from 'pino'
import { erasureWork } from '../../../src/composition/persons/erasures.js'
import { keyBytes } from '../../../src/composition/complete-config.js'
import { openConnections } from '../../../src/composition/connections.js'
import { phoneHash } from '../../../src/command-handling/phone-hash.js'
import { findRequest } from '../../../src/command-handling/person/person-requests.js'
import { pause } from '../../../src/subscriptions/pause.js'
import type { BackgroundKind } from '../../../workers/background/kind.js'
import { giveTurn } from '../../../workers/background/turns.js'
import { erasures } from '../../../workers/persons/erasures/erasures.js'
import { erasureKind } from '../../../workers/persons/erasures/request.js'
import { configOf } from '../service.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', eventStoreUrl = '', id = '', diesAt = '0'] = process.argv.slice(2)
const log = pino({ level: process.env.ERASING_LOG ?? 'warn' }, pino.destination(2))
const config = configOf({})
const connections = await openConnections({ databaseUrl, eventStoreUrl }, config, log)
const { pool, streams, personKeys } = connections

let count = 0
/** Written at once, as the process may end next. */
function pass (at: string): void {
  count += 1
  writeSync(1, `${JSON.stringify({ count, at })}\n`)
  if (count === Number(diesAt)) process.kill(process.pid, 'SIGKILL')
}

/** The same, with a point before and one behind. */
const around = <Given extends unknown[], Answer> (name: string, work: (...given: Given) => Promise<Answer>) =>
  async (...given: Given): Promise<Answer> => {
    pass(`before ${name}`)
    const answer = await work(...given)
    pass(`after ${name}`)
    return answer
  }

const work = erasureWork({
  config,
  connections: {
    ...connections,
    streams: {
      ...streams,
      append: around('an append', streams.append),
      truncate: around('a truncation', streams.truncate),
      scavenge: around('the scavenge', streams.scavenge)
    },
    personKeys: Object.assign(Object.create(personKeys), {
      erase: around('the end of the key', (userId: string, phoneNumber: string) => personKeys.erase(userId, phoneNumber))
    })
  },
  digest: phoneHash(keyBytes(config.secrets.leadDigestKey)),
  log
})
const kind = erasures({ ...work, settleMs: 50 })
const killable: BackgroundKind<never, never> = {
  ...kind,
  work: (request, turn) => kind.work(request, { ...turn, keep: around('what is kept', turn.keep) }),
  finish: around('its end', kind.finish)
}
const { signal } = new AbortController()
const options = { pool, kinds: { [erasureKind]: killable }, holder: `${process.pid}`, turnMs: 60_000, retryMs: 50, signal, log }
while ((await findRequest(streams, id))?.request.status !== 'completed') {
  await giveTurn(options, id)
  await pause(50, signal)
}
process.exit()
