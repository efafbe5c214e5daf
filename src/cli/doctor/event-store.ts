// The event store: whether it answers, who leads, and whether our login may do what it must and no more.
import { randomUUID } from 'node:crypto'
import { reachableHead } from '../../services/back-end-unreachable.js'
import { aboutServer, lastScavenges, type AboutServer } from '../../log/about-server.js'
import { EventStoreConnection } from '../../log/connection.js'
import { reasonOf, RevisionConflict } from '../../log/errors.js'
import { EventLog, type Streams } from '../../log/event-log.js'
import { findLimitedStreams } from '../../recovery/other-log.js'
import type { ScavengedStore } from './service.js'
import { problem, runIfReachable, skipped, warning, type Check, type Finding, type Found } from './check.js'
import { placeOf, unusedOf } from '../../log/client-url.js'

/** No stream of ours comes so far: an append there is refused by the store, and writes nothing. */
const neverReached = 10n ** 12n
const oldest = [22, 6] as const
const answerWithinMs = 2_500
const part = 'Event store'

interface OpenEventStore extends ScavengedStore {
  streams: Streams
  findings: Promise<Finding[]>
  close (): Promise<void>
}

export function checkEventStore (url: string): OpenEventStore {
  const connection = new EventStoreConnection(url)
  const streams = new EventLog(connection, { answerWithinMs, resolveWithinMs: 0 })
  const findings = runIfReachable(part, ['reachable', async () => {
    const head = await reachableHead({ url }, () => streams.head())
    return `${placeOf(url)}, its log ends at ${head}`
  }], () => [...aboutChecks(connection), ...rightsChecks(url, streams)],
  'Check that it runs, and that EVENTSTORE_URL, its login and EVENTSTORE_CA_FILE are right: docs/eventstoredb.md.')
  return {
    streams,
    findings,
    lastScavenges: () => lastScavenges(connection, answerWithinMs),
    memberCount: async () => (await aboutServer(connection)).members.length,
    close: () => connection.close()
  }
}

function aboutChecks (connection: EventStoreConnection): Check[] {
  const about = aboutServer(connection)
  about.catch(() => {}) // each of the two tells
  const told = (tell: (server: AboutServer) => Found) => async () =>
    await about.then(tell, (error: unknown) => skipped(`it does not say: ${reasonOf(error)}`))
  return [
    ['version', told(({ version }) => {
      const [major = 0, minor = 0] = version.split('.').map(Number)
      const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1])
      return isOld ? problem(version, `Run EventStoreDB ${oldest.join('.')} or later.`) : version
    })],
    ['members', told(({ members }) => {
      const found = members.map(({ address, state, isAlive }) => `${address} ${isAlive ? state : 'dead'}`).join(', ')
      if (!members.some(({ state, isAlive }) => isAlive && /^(leader|manager)$/.test(state))) {
        return problem(`${found}: none leads`, 'Bring back most of the members: only a leader takes writes.')
      }
      return members.every(({ isAlive }) => isAlive) ? found : warning(found, 'Bring back the member that is away.')
    })]
  ]
}

function rightsChecks (url: string, streams: Streams): Check[] {
  return [
    ['right to write', async () => {
      const event = { id: randomUUID(), type: 'Probe', data: {}, metadata: {} }
      const refusal = await streams.append('ringledger-write-probe', [event], neverReached).then(() => undefined, (error: unknown) => error)
      if (refusal instanceof RevisionConflict) return 'appends are taken'
      return problem(reasonOf(refusal), 'Give the login the rights of docs/eventstoredb.md, or see why the store is read-only.')
    }],
    ['login', async () => {
      const login = /\/\/([^:@/]+):[^@]*@/.exec(url)?.[1]
      if (login === 'admin' || login === 'ops') {
        return warning(`${login}, which may do more than it needs`, 'Use a plain user: docs/eventstoredb.md, "Rights".')
      }
      return login === undefined || unusedOf(url) ? 'none' : login
    }],
    ['streams are whole', async () => {
      const limited = await findLimitedStreams(streams)
      if (limited.length === 0) return 'no $maxCount, $maxAge, $tb or delete on the streams that all need'
      const found = limited.map(({ stream, limit }) => `${stream} has ${limit}`).join(', ')
      return problem(found, limited.map(({ problem }) => problem).join(' '))
    }]
  ]
}
