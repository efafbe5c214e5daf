// Memory stays flat when a reader stops: a hundred subscribers, one of them stopped, while tens of MiB are written.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import t from 'tap'
import {
  type AllStreamSubscription, binaryEvent, END, type EventStoreDBClient, streamNameFilter, type StreamSubscription
} from '@eventstore/db-client'
import { type EventStoreProcess, eventStoreProcess } from '../support/event-store-process.js'
import { collect, connect } from '../support/scratch-event-store.js'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'

type Subscription = AllStreamSubscription | StreamSubscription

const mib = 1024 * 1024
const streams = Array.from({ length: 49 }, (_, n) => `load-${n}`)
const data = randomBytes(48 * 1024) // random: Postgres cannot make it smaller. An event of each stream is 2.3 MiB
const rounds = { warmUp: 5, measured: 14 } // 11 MiB fill what is kept for all; 32 more must change nothing
const bound = 16 * mib
const upTo = (count: number) => Array.from({ length: count }, (_, revision) => revision)

/** Makes the server say on SIGUSR2 how many bytes are in use: what collections leave, whose second half runs beside. */
const report = 'gc();const{heapUsed,external}=process.memoryUsage();console.log(heapUsed+external)'
const onSignal = `process.on("SIGUSR2",()=>{gc();setTimeout(()=>{${report}},100)})`
const reportsMemory = ['--expose-gc', '--import', `data:text/javascript,${onSignal}`]

const write = (client: EventStoreDBClient) => Promise.all(streams.map(async (stream) => {
  await client.appendToStream(stream, binaryEvent({ type: 'Written', data }))
}))

/** Three quarters of the parts follow a stream, the others filter it out of $all. */
function followPart (client: EventStoreDBClient, stream: string, n: number): Subscription {
  if (n % 4 > 0) return client.subscribeToStream(stream, { fromRevision: END })
  return client.subscribeToAll({ fromPosition: END, filter: streamNameFilter({ regex: `^${stream}$` }) })
}

/** Notes the revisions that come of each stream, in their order. */
function watch (subscription: Subscription) {
  const seen: Record<string, number[]> = {}
  let [count, notice] = [0, () => {}]
  subscription.on('data', ({ event }) => {
    if (event !== undefined) (seen[event.streamId] ??= []).push(Number(event.revision))
    count++
    notice()
  })
  const until = async (wanted: number) => {
    while (count < wanted) await new Promise<void>((resolve) => { notice = resolve })
  }
  return { seen, until }
}

/** What the server has in use, in bytes. */
async function inUse (server: EventStoreProcess): Promise<number> {
  const { stdout } = server.process()
  if (stdout === null) throw new Error('Its stdout is not read')
  server.process().kill('SIGUSR2')
  const [line] = await once(stdout, 'data') as [Buffer]
  return Number(line.toString())
}

/** A hundred subscribers that have caught up: one stops, one follows all of it, the others a stream each. */
async function crowdOf (client: EventStoreDBClient) {
  const [stopped, whole] = [client.subscribeToAll({ fromPosition: END }), client.subscribeToAll({ fromPosition: END })]
  const parts = Array.from({ length: 98 }, (_, n) => {
    const stream = streams[n % streams.length] ?? ''
    return { stream, subscription: followPart(client, stream, n) }
  })
  const all = [stopped, whole, ...parts.map(({ subscription }) => subscription)]
  await Promise.all(all.map((each) => once(each, 'caughtUp')))
  stopped.pause()
  const ofParts = parts.map(({ stream, subscription }) => ({ stream, ...watch(subscription) }))
  return { stopped, ofAll: watch(whole), ofParts }
}

t.test('one of a hundred subscribers stops: memory stays, and all see everything once, it too when it goes on', async (t) => {
  const postgres = await scratchPostgres(t)
  const server = await eventStoreProcess(t, postgres.url, reportsMemory)
  const client = connect(t, `esdb://127.0.0.1:${server.port}?tls=false`)
  const { stopped, ofAll, ofParts } = await crowdOf(client)
  let written = 0
  async function load (rounds: number) {
    for (const until = written + rounds; written < until;) {
      await write(client)
      written++
      await Promise.all([ofAll.until(written * streams.length), ...ofParts.map(({ until }) => until(written))])
    }
  }

  await load(rounds.warmUp)
  const before = await inUse(server)
  await load(rounds.measured)
  const grown = await inUse(server) - before
  const [more, of] = [grown, before].map((bytes) => (bytes / mib).toFixed(1))
  t.ok(grown < bound, `${more} MiB more are in use after 32 MiB more were written, of ${of}`)

  const readFrom = performance.now()
  await collect(client.readAll())
  const resumedAt = performance.now()
  const late = watch(stopped)
  stopped.resume()
  await late.until(written * streams.length)
  const [reading, catchingUp] = [resumedAt - readFrom, performance.now() - resumedAt]
  const times = `in ${catchingUp.toFixed(0)} ms; a read of the same takes ${reading.toFixed(0)}`
  t.ok(catchingUp < 5 * reading + 1_000, `it catches up ${times}`)

  const everything = Object.fromEntries(streams.map((stream) => [stream, upTo(written)]))
  t.same([late.seen, ofAll.seen], [everything, everything])
  t.same(ofParts.map(({ seen }) => seen), ofParts.map(({ stream }) => ({ [stream]: upTo(written) })))
})
