// Starts the embedded back ends of a DATA_DIR whose lock this process holds, and stops them.
import { setTimeout as delay } from 'node:timers/promises'
import { startEventStoreProcess } from '@ringledger/embedded-event-store/child'
import { startPostgres } from '@ringledger/embedded-postgres'
import { explained } from '@ringledger/embedded-postgres/data-dir'
import type { Lock } from '@ringledger/embedded-postgres/lock'
import { eventStorePort } from './event-store-port.js'
import type { EmbeddedRequest, EmbeddedStack } from './request.js'
import { removeRunFile, writeRunFile } from './run-file.js'

interface Part {
  lost: Promise<Error>
  close(options?: Closing): Promise<void>
}

interface Closing { atOnce?: boolean }

const causeWithinMs = 1_000

const killed = 'Postgres did not answer, so the embedded back ends were killed. What was acknowledged is on the disk: ' +
  'the next start recovers it.'

/** Takes over the lock: it is released when the stack is closed, or cannot be started. */
export async function openOwn (dataDir: string, lock: Lock, request: EmbeddedRequest): Promise<EmbeddedStack> {
  const { databaseUrl, eventStoreUrl, role, listening, log } = request
  const servicePort = listening?.port
  const parts: Part[] = []
  const pids: Record<string, number> = {}
  let closing: Promise<void> | undefined
  const close = ({ atOnce = false }: Closing = {}) => {
    if (atOnce && parts.length > 0 && closing === undefined) log(killed)
    return closing ??= closeAll(dataDir, lock, parts, { atOnce })
  }
  try {
    await listening?.assertCanListen()
    const wanted = role === 'start' ? request.eventStorePort : 0
    const port = eventStoreUrl ? 0 : await eventStorePort({ dataDir, wanted, servicePort, log })
    const urls = { databaseUrl: databaseUrl ?? await addPostgres([servicePort ?? 0, port]), eventStoreUrl: '' }
    urls.eventStoreUrl = eventStoreUrl ?? await addEventStore(urls.databaseUrl, port)
    const publish = async (extra: Record<string, unknown>): Promise<void> => {
      if (role === 'start' && closing === undefined) writeRunFile(dataDir, { ...extra, lock: lock.number, ...urls, pids })
    }
    const lost = firstLost(parts)
    return { ...urls, joined: false, pids, lost, publish, close }
  } catch (error) {
    await close()
    throw explained(dataDir, error)
  }

  async function addPostgres (otherPorts: number[]): Promise<string> {
    const postgres = await startPostgres({ dir: dataDir, otherPorts, log })
    parts.push(postgres)
    Object.assign(pids, { postgres: postgres.pid, postgresSupervisor: postgres.supervisorPid })
    return postgres.url
  }

  async function addEventStore (url: string, port: number): Promise<string> {
    await request.check?.(url)
    const eventStore = await startEventStoreProcess(dataDir, url, port)
    parts.push(eventStore)
    pids.eventStore = eventStore.pid
    return eventStore.url
  }
}

/** A part that ends because of the first one, which it lives on, may be noticed before it. */
async function firstLost (parts: readonly Part[]): Promise<Error> {
  const noticed = await Promise.race(parts.map(({ lost }) => lost))
  return await Promise.race([parts[0]?.lost ?? noticed, delay(causeWithinMs, noticed)])
}

async function closeAll (dataDir: string, lock: Lock, parts: Part[], how: Closing): Promise<void> {
  removeRunFile(dataDir) // first, so that no command joins a stack that is about to end
  try {
    for (const part of parts.toReversed()) await part.close(how)
  } finally {
    lock.release()
  }
}
