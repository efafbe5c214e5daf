// A checkout that is built, on a Postgres of its own. Only its contract is used: commands, settings, HTTP, events.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import pg from 'pg'
import { frontDesk } from '../../src/domain/examples.js'
import { temporaryPostgres, type TemporaryPostgres } from '../support/back-ends.js'
import { endedCall } from '../support/calls.js'
import { Client, idIn } from '../support/client.js'
import { catalogueOf, environmentOf, tokenFor } from '../support/environment.js'
import type { Pids } from '../support/processes.js'
import { random } from '../support/random.js'
import { temporaryRedis, type BenchRedis } from '../support/redis.js'
import { kindsOf, type Kinds } from '../support/requests.js'
import { ringledgerOf, run, type Environment, type Ran } from '../support/run.js'
import { startRole, type Running } from '../support/service.js'
import { asRole, countStatements, type Statements } from '../support/statements.js'
import { untilReady } from '../support/until-ready.js'

export const userCount = 50
const leadsPerUser = 10
const roleNames = ['projector', 'worker', 'api'] as const
/** Of a user without webhooks, whose calls are in the log before anything is measured. */
const silentUser = userCount + 1
const users = Array.from({ length: silentUser }, (_, index) => index + 1)
const appendsAtOnce = 64

export class Stack {
  readonly #roles: Running[] = []
  #redis: BenchRedis | undefined
  /** Users are counted from 1; the campaign of each has the same id. */
  readonly #assistants: number[] = []
  readonly #leads: Array<{ user: number, id: number }> = []
  #pids: Pids = {}
  readonly chance = random(2)
  readonly events: EventStoreDBClient
  url = ''

  private constructor (
    private readonly root: string, private readonly postgres: TemporaryPostgres, private readonly eventStore: Running,
    private readonly env: Environment, private readonly tokens: string[], readonly engineToken: string
  ) {
    this.events = EventStoreDBClient.connectionString(eventStore.url)
  }

  /** @param webhookUrl that takes the webhooks of all users @param calls so many are in the log before */
  static async open (root: string, webhookUrl: string, calls: number): Promise<Stack> {
    const postgres = await temporaryPostgres()
    const { dir, postgres: { url: databaseUrl } } = postgres
    let close = postgres.close
    try {
      const base: Environment = { ...environmentOf({ dir, databaseUrl, eventStoreUrl: '' }), RATE_LIMIT_PER_MINUTE: '0' }
      const named = { ...base, DATABASE_URL: asRole(databaseUrl, 'event store') }
      const eventStore = await startRole('event-store', named, { root, args: ['--port', '0'] })
      const env = { ...base, EVENTSTORE_URL: eventStore.url }
      const tokens = await Promise.all(users.map((user) => tokenFor(env, user)))
      const stack = new Stack(root, postgres, eventStore, env, tokens, await tokenFor(env, 'engine', 'engine'))
      close = () => stack.close()
      await stack.command('migrate')
      const catalog = join(dir, 'catalog.json')
      writeFileSync(catalog, JSON.stringify(catalogueOf(users)))
      await stack.command('catalog', 'import', catalog)
      await stack.startRoles('Postgres')
      await stack.#fill(webhookUrl, calls)
      return stack
    } catch (error) {
      await close()
      throw error
    }
  }

  /** Each is a process. */
  async startRoles (queue: 'Postgres' | 'Redis'): Promise<void> {
    await this.#stopRoles()
    if (queue === 'Redis') this.#redis ??= await temporaryRedis(this.postgres.dir)
    this.#pids = {
      postgres: this.postgres.postgres.pid,
      'event store': this.eventStore.pid,
      ...(this.#redis && { redis: this.#redis.pid })
    }
    for (const role of roleNames) {
      const env = { ...this.env, REDIS_URL: this.#redis?.url ?? '', DATABASE_URL: asRole(this.env.DATABASE_URL ?? '', role) }
      const running = await startRole(role, env, { root: this.root })
      this.#roles.push(running)
      this.#pids[role] = running.pid
      await untilReady(running)
      this.url = running.url
    }
  }

  /** Of all processes; that of Postgres is its postmaster. */
  get pids (): Pids {
    return this.#pids
  }

  kinds (): Kinds {
    const assistantOf = (user: number) => this.assistantOf(user)
    const tokenOf = (user: number) => this.tokenOf(user)
    const users = { count: userCount, campaignOf: (user: number) => user, assistantOf, tokenOf, leads: this.#leads }
    return kindsOf(users, this.chance)
  }

  assistantOf (user: number): number {
    return this.#assistants[user - 1] ?? NaN
  }

  tokenOf (user: number): string {
    return this.tokens[user - 1] ?? ''
  }

  /** A command of its command line, to its end. */
  async command (...args: string[]): Promise<Ran> {
    return await run(ringledgerOf(this.root, ...args), this.env)
  }

  /** By process. */
  async statementsOf (work: () => Promise<unknown>): Promise<Statements> {
    const pool = new pg.Pool({ connectionString: asRole(this.postgres.postgres.url, 'bench'), max: 1 })
    try {
      const { bench: _own, ...counted } = await countStatements(pool, join(this.postgres.dir, 'postgres.log'), work)
      return counted
    } finally {
      await pool.end()
    }
  }

  async close (): Promise<void> {
    await this.#stopRoles()
    await this.events.dispose()
    await this.eventStore.stop()
    await this.#redis?.close()
    await this.postgres.close()
  }

  async #stopRoles (): Promise<void> {
    for (const role of this.#roles.splice(0).reverse()) await role.stop()
  }

  async #fill (webhookUrl: string, calls: number): Promise<void> {
    const client = new Client(this.url, '127.0.0.1', 16)
    const create = async (path: string, user: number, body: object) => {
      const { status, body: said } = await client.send('POST', path, { token: this.tokenOf(user), body })
      if (status > 201) throw new Error(`POST ${path} was answered with ${status}: ${said}`)
      return idIn({ body: said })
    }
    for (const user of users) {
      const webhook = user < silentUser && { is_webhook_active: true, webhook_url: `${webhookUrl}/${user}` }
      this.#assistants.push(await create('/user/assistant', user, { ...frontDesk, ...webhook }))
    }
    const kind = this.kinds()['POST lead']
    for (let n = 0; n < leadsPerUser; n++) {
      await Promise.all(Array.from({ length: userCount }, async (_, index) => {
        const id = await create('/user/lead', index + 1, { ...kind().body, campaign_id: index + 1 })
        this.#leads.push({ user: index + 1, id })
      }))
    }
    client.close()
    await this.#appendCalls(calls)
  }

  /** As an engine that reports into the log itself. The reader of a projection finds nothing else of calls there. */
  async #appendCalls (count: number): Promise<void> {
    const chance = random(3)
    let made = 0
    await Promise.all(Array.from({ length: appendsAtOnce }, async () => {
      while (made++ < count) {
        const data = endedCall(chance, this.assistantOf(silentUser))
        await this.events.appendToStream(`call-${data.call_id}`, jsonEvent({ type: 'CallCompleted', data: { ...data } }))
      }
    }))
  }
}
