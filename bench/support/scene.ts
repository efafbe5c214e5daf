// The service that is measured: its log made up, its roles as processes, on back ends of its own.
import pg from 'pg'
import { processModule } from '@ringledger/embedded-event-store/child'
import { EventStoreConnection } from '../../src/log/connection.js'
import { EventLog } from '../../src/log/event-log.js'
import { fill, type Written } from '../log/fill.js'
import type { Happened } from '../log/history.js'
import { startServer, temporaryPostgres, type BenchServer, type TemporaryPostgres } from './back-ends.js'
import { environmentOf, tokenFor } from './environment.js'
import { untilReady } from './until-ready.js'
import type { Pids } from './processes.js'
import { ringledger, run, type Environment } from './run.js'
import { asRole } from './statements.js'
import { startRole, type Command, type Running } from './service.js'
import { inventory, type Inventory } from '../log/inventory.js'

/** A projector is ready once the read models are filled, which a million events take long for. */
const filledWithinMs = 3_600_000

export class Scene {
  readonly #running: Running[] = []

  private constructor (
    private readonly postgres: TemporaryPostgres, readonly eventStore: BenchServer, readonly env: Environment,
    private readonly tokens: string[]
  ) {}

  /** @param written what the log gets of the inventory */
  static async open (
    sizes: Inventory, written: (history: Iterable<Happened>) => Iterable<Written> = (history) => history
  ): Promise<Scene> {
    const postgres = await temporaryPostgres()
    const databaseUrl = postgres.postgres.url
    await fill(databaseUrl, written(inventory(sizes)))
    const eventStore = await startServer({ module: processModule, env: { DATABASE_URL: databaseUrl } }, postgres.dir)
    const back = { dir: postgres.dir, databaseUrl, eventStoreUrl: eventStore.url }
    const env: Environment = { ...environmentOf(back), RATE_LIMIT_PER_MINUTE: '0' }
    await run(ringledger('migrate'), env)
    const tokens = await Promise.all(Array.from({ length: sizes.users }, (_, index) =>
      tokenFor(env, index + 1)))
    return new Scene(postgres, eventStore, env, tokens)
  }

  /** Of the n-th user, counted from 1. */
  tokenOf (id: number): string {
    return this.tokens[id - 1] ?? ''
  }

  /** Those of the back ends, and of what else runs. */
  pids (more: Pids = {}): Pids {
    return { ...more, 'event store': this.eventStore.pid, postgres: this.postgres.postgres.pid }
  }

  async start (command: Command, more: Environment = {}): Promise<Running> {
    const env = { ...this.env, ...more, DATABASE_URL: asRole(this.env.DATABASE_URL ?? '', command) }
    const running = await startRole(command, env)
    this.#running.push(running)
    await untilReady(running, filledWithinMs)
    return running
  }

  /** A process of the bench, which ends with the scene. */
  async startModule (module: URL, more: Environment = {}): Promise<BenchServer> {
    const server = await startServer({ module, env: { ...this.env, ...more } }, this.postgres.dir)
    this.#running.push({ url: server.url, pid: server.pid, stop: server.close })
    return server
  }

  /** Until all that is in the log now has been read by those with these checkpoints. @returns the end of the log */
  async untilLevel (checkpoints: readonly string[]): Promise<bigint> {
    const connection = new EventStoreConnection(this.eventStore.url)
    const head = await new EventLog(connection).head()
    await connection.close()
    await this.withPool(async (pool) => {
      for (const table of checkpoints) {
        const isLevel = `SELECT FROM ${table} WHERE position >= $1`
        while ((await pool.query(isLevel, [String(head)]).catch(() => undefined))?.rowCount !== 1) await pause()
      }
    })
    return head
  }

  /** For a look at what was written. */
  async withPool<Result> (work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
    const pool = new pg.Pool({ connectionString: this.env.DATABASE_URL, max: 1 })
    try {
      return await work(pool)
    } finally {
      await pool.end()
    }
  }

  async stopRoles (): Promise<void> {
    for (const running of this.#running.splice(0).reverse()) await running.stop()
  }

  async close (): Promise<void> {
    await this.stopRoles()
    await this.eventStore.close()
    await this.postgres.close()
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
