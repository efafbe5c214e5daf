// Runs the embedded event store as a child process on the given Postgres.
import { join } from 'node:path'
import { startChild } from '@ringledger/embedded-postgres/child'

/** Takes `--port` and DATABASE_URL, prints `LISTENING <port>`. */
export const processModule = new URL('./process.js', import.meta.url)

const STOP_SECONDS = 10

/** Starts it on loopback, on any free port unless one is given; returns when it listens. */
export async function startEventStoreProcess (dataDir: string, databaseUrl: string, port = 0) {
  const logFile = join(dataDir, 'event-store.log')
  const child = startChild({
    module: processModule,
    args: ['--port', String(port)],
    env: { DATABASE_URL: databaseUrl, RINGLEDGER_STOP_ON_STDIN_CLOSE: '1' },
    logFile
  })
  const listening = await child.line((line) => /^LISTENING (\d+)$/.exec(line)?.[1]).catch((error: unknown) => {
    throw new Error(ended('did not start'), { cause: error })
  })
  let closing: Promise<void> | undefined
  return {
    url: `esdb://127.0.0.1:${listening}?tls=false`,
    pid: child.pid,
    /** Resolves when it ended without `close`. */
    lost: new Promise<Error>((resolve) => {
      void child.ended.then((how) => closing ?? resolve(new Error(ended(`stopped unexpectedly (${how})`))))
    }),
    /** Returns when the process has ended. Idempotent. `atOnce` kills it; everything acknowledged is in Postgres. */
    close: ({ atOnce = false } = {}) => closing ??= child.stop(atOnce ? 0 : STOP_SECONDS)
  }

  function ended (how: string): string {
    const why = /^The event store cannot go on(: .*)/m.exec(child.said())?.[1] ?? '.'
    return `The embedded event store ${how}; ${logFile} says why${why}`
  }
}
