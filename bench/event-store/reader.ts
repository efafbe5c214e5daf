// A process that reads the log of a server. In: esdb://…, a way to read, how many events. Out: what it took, as JSON.
import { parseArgs } from 'node:util'
import { EventStoreDBClient, eventTypeFilter, START } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { credentials } from '@grpc/grpc-js'
import { wantedTypes } from './varied.js'

/** What a reader took, in seconds. */
export interface Read { seconds: number, cpu: number }

const { positionals: [url = '', way = '', wanted = '0'] } = parseArgs({ allowPositionals: true })
const count = Number(wanted)

const startedAt = performance.now()
const before = process.cpuUsage()
const seen = await (way === 'counted' ? counted() : way === 'filtered' ? filtered() : all())
const { user, system } = process.cpuUsage(before)
if (seen !== count) throw new Error(`${seen} of ${count} events came`)
const took: Read = { seconds: (performance.now() - startedAt) / 1_000, cpu: (user + system) / 1e6 }
process.stdout.write(JSON.stringify(took))

async function all (): Promise<number> {
  const client = EventStoreDBClient.connectionString(url)
  let seen = 0
  for await (const { event } of client.readAll({ fromPosition: START, maxCount: count })) if (event) seen++
  await client.dispose()
  return seen
}

/** As a projection does, up to the end of the log. */
async function filtered (): Promise<number> {
  const client = EventStoreDBClient.connectionString(url)
  const filter = eventTypeFilter({ regex: `^(${wantedTypes.join('|')})$`, checkpointInterval: 10 })
  const subscription = client.subscribeToAll({ fromPosition: START, filter })
  let seen = 0
  await new Promise<void>((resolve, reject) => {
    subscription.on('error', reject).on('caughtUp', resolve).on('data', () => { seen++ })
  })
  await subscription.unsubscribe()
  await client.dispose()
  return seen
}

/** Messages are counted and not decoded, so that the server sets the pace. */
async function counted (): Promise<number> {
  const { read } = streamsService.StreamsService
  const client = new streamsService.StreamsClient(new URL(url).host, credentials.createInsecure())
  const options = new streams.ReadReq.Options()
    .setAll(new streams.ReadReq.Options.AllOptions().setStart(new shared.Empty()))
    .setCount(String(count))
    .setNoFilter(new shared.Empty())
  const request = new streams.ReadReq().setOptions(options)
  let seen = 0
  const messages = client.makeServerStreamRequest(read.path, read.requestSerialize, sizeOf, request)
  for await (const size of messages) if (size > 0) seen++
  client.close()
  return seen
}

function sizeOf (message: Buffer): number {
  return message.length
}
