// Scavenges the embedded event store of the running `start`, or one that is opened for it.
import { reachableHead } from '../../services/back-end-unreachable.js'
import { withCaFile } from '../../log/connection/client-url.js'
import { EventStoreConnection } from '../../log/connection/connection.js'
import type { Scavenged } from '../../log/scavenge.js'
import { openStreams } from '../../log/streams.js'
import { presentStore } from '../events/stores.js'

/** A real server has other users and several members with files of their own: when it scavenges is not ours to say. */
const ofOperator = 'EVENTSTORE_URL leads to a real server, whose operator scavenges it: as a user of ' +
  '$admins or $ops, for each member, curl -X POST https://MEMBER:2113/admin/scavenge -u USER:PASSWORD; ' +
  'docs/eventstoredb.md, "Scavenging"'

/** @throws when the event store is a real server, and EventStoreUnavailable */
export async function scavengeNow ({ signal }: { signal: AbortSignal }): Promise<Scavenged> {
  const place = await presentStore('ringledger event-store scavenge')
  const url = withCaFile(place.url, place.caFile)
  const connection = new EventStoreConnection(url)
  const breakOff = () => { void connection.close() } // the `finally` below waits for it
  signal.addEventListener('abort', breakOff, { once: true })
  try {
    const streams = openStreams(connection)
    await reachableHead({ url }, () => streams.head())
    const scavenged = await streams.scavenge()
    if (!scavenged) throw new Error(ofOperator)
    return scavenged
  } finally {
    signal.removeEventListener('abort', breakOff)
    await connection.close()
    await place.close()
  }
}
