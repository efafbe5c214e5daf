// The port of the embedded event store: the same at every start, so that a call engine finds it again.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export interface PortRequest {
  dataDir: string
  /** Of `EMBEDDED_EVENTSTORE_PORT`; 0 for any free one. Absent: the kept one, else 2113, else any that is free. */
  wanted?: number | undefined
  /** Of EventStoreDB unless given. */
  usual?: number
  log: (line: string) => void
}

/**
 * The port to listen on, which is free now; without a wish it is kept in DATA_DIR.
 * @throws when the wanted port is taken
 */
export async function eventStorePort ({ dataDir, wanted, usual = 2113, log }: PortRequest): Promise<number> {
  if (wanted === 0) return 0
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted
    throw new Error(`EMBEDDED_EVENTSTORE_PORT is ${wanted}, and another process listens there: choose another port`)
  }
  const kept = keptPort(dataDir)
  const first = kept ?? usual
  const port = await isFree(first) ? first : await anyFree()
  if (port !== first) log(`Port ${first} is taken, so the event store listens on ${port} from now on`)
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
const anyFree = () => listenOnce(0)

/** Listens for a moment. @returns the port */
function listenOnce (port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => { resolve(typeof address === 'object' && address !== null ? address.port : port) })
    })
  })
}
