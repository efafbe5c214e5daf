// The port of the embedded event store: the same at every start, so that a call engine finds it again.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, listenOnce } from '@ringledger/embedded-postgres'

export interface PortRequest {
  dataDir: string
  /** Of `EMBEDDED_EVENTSTORE_PORT`; 0 for any free one. Absent: the kept one, else 2113, else any that is free. */
  wanted?: number | undefined
  /** Of EventStoreDB unless given. */
  usual?: number
  /** Where the service itself will listen. */
  servicePort?: number | undefined
  log: (line: string) => void
}

/**
 * The port to listen on, which is free now; without a wish it is kept in DATA_DIR.
 * @throws when the wanted port is taken
 */
export async function eventStorePort (
  { dataDir, wanted, usual = 2113, servicePort = 0, log }: PortRequest
): Promise<number> {
  if (wanted === 0) return servicePort === 0 ? 0 : await freePort([servicePort])
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted
    throw new Error(`EMBEDDED_EVENTSTORE_PORT is ${wanted}, and another process listens there: choose another port`)
  }
  const kept = keptPort(dataDir)
  const first = kept ?? usual
  const isOurs = first === servicePort
  const port = !isOurs && await isFree(first) ? first : await freePort([servicePort])
  const why = isOurs ? 'that of PORT' : 'taken'
  if (port !== first) log(`Port ${first} is ${why}, so the event store listens on ${port} from now on`)
  if (port !== kept) writeFileSync(portFile(dataDir), `${port}\n`, { mode: 0o600 })
  return port
}

const portFile = (dataDir: string) => join(dataDir, 'event-store.port')

function keptPort (dataDir: string): number | undefined {
  try {
    const port = Number(readFileSync(portFile(dataDir), 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
  } catch {
    return undefined
  }
}

const isFree = (port: number) => listenOnce(port).then(() => true, () => false)
