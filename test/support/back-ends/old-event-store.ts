// Acts like a server before 24.10.5: until the filter of a subscription matches, its checkpoint says 2^64-1.
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import * as grpc from '@grpc/grpc-js'
import type { Teardown } from '../teardown.js'

const nowhere = String(2n ** 64n - 1n)

/** Only reads pass. @returns its URL, and how many checkpoints said nothing */
export async function oldEventStore (t: Teardown, port: number): Promise<{ url: string, saidNothing (): number }> {
  const target = new streamsService.StreamsClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure())
  const server = new grpc.Server()
  let count = 0
  server.addService({ read: streamsService.StreamsService.read }, {
    read (call: grpc.ServerWritableStream<ReadReq, ReadResp>) {
      const reading = target.read(call.request)
      let hasMatched = false
      reading.on('data', (answer: ReadResp) => {
        hasMatched ||= answer.hasEvent()
        const checkpoint = answer.getCheckpoint()
        if (checkpoint && !hasMatched) {
          checkpoint.setCommitPosition(nowhere).setPreparePosition(nowhere)
          count += 1
        }
        call.write(answer)
      })
      reading.on('error', (error) => call.emit('error', error))
      reading.on('end', () => call.end())
      call.on('cancelled', () => reading.cancel())
    }
  })
  const own = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound))
  })
  t.teardown(() => { server.forceShutdown(); target.close() })
  return { url: `esdb://127.0.0.1:${own}?tls=false`, saidNothing: () => count }
}
