// Ends one connection to Postgres, also a dead one.
import { Socket } from 'node:net'
import type { Client } from 'pg'
import { endsWithin } from './ends-within.js'

const goodbyeMs = 1_000

/** Says goodbye. A server that does not answer that, or does not even let us connect, is left. */
export async function endClient (client: Client): Promise<void> {
  if (await endsWithin(goodbyeMs, client.end())) return
  const socket = client.connection?.stream
  if (socket instanceof Socket) socket.destroy()
}
