// What is measured runs in processes of its own: Postgres as the product embeds it, and servers on it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild, type ChildRequest } from '@ringledger/embedded-postgres/child'
import { prepareDataDir } from '@ringledger/embedded-postgres/data-dir'
import { startPostgres, type EmbeddedPostgres } from '@ringledger/embedded-postgres'

export interface BenchServer {
  pid: number
  port: number
  /** `esdb://…` */
  url: string
  /** Resident memory in MiB. */
  memory (): number
  close (): Promise<void>
}

export interface TemporaryPostgres {
  dir: string
  postgres: EmbeddedPostgres
  close (): Promise<void>
}

/** A directory and a fresh cluster in it, fsync on; both are gone after `close`. */
export async function temporaryPostgres (): Promise<TemporaryPostgres> {
  const dir = prepareDataDir(mkdtempSync(join(tmpdir(), 'ringledger-bench-')))
  const postgres = await startPostgres({ dir, log: () => {} })
  return {
    dir,
    postgres,
    async close () {
      await postgres.close()
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

/** A server that prints `LISTENING <port>` and ends when its stdin closes. */
export async function startServer (request: Pick<ChildRequest, 'module' | 'env'>, dir: string): Promise<BenchServer> {
  const env = { ...request.env, RINGLEDGER_STOP_ON_STDIN_CLOSE: '1' }
  const child = startChild({ ...request, args: [], env, logFile: join(dir, 'bench.log') })
  const port = Number(await child.line((line) => /^LISTENING (\d+)$/.exec(line)?.[1]))
  return {
    pid: child.pid,
    port,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    memory: () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    close: () => child.stop(10)
  }
}
