// What BullMQ asks Postgres, with fewer statements: a job that comes alone takes three of them instead of nine.
import type { Pool } from 'pg'

/** BullMQ names its commands nowhere but in their text. What is not recognised is sent as it is. */
const claims = /^SELECT \* FROM (move_to_(?:active|(?:completed|failed)_fetch))\(([^)]*)\);?\s*$/m
const adds = /^SELECT add_job\(/m
/** When a delayed job is due, and how long a limited queue rests. Our queues have neither. */
const aboutDelays = /\b(FROM next_signal|SELECT next_delay)\(/
const aboutWaiting = /\bstate = 'waiting'\s*\)[^;]*\bAS present\b/

/** Whether others wait beside the one that is claimed: the snapshot is from before the claim. */
const othersWait = `(
  SELECT count(*) > 1 FROM (SELECT FROM job WHERE queue = $1 AND state = 'waiting' LIMIT 2) waiting)`

interface Claim { name: string, text: string }
type Answer = Promise<{ rows: object[] }>
type Ask = (query: { name?: string, text: string, values?: unknown[] | undefined }) => Answer

/** Every job that is added is notified, so that a queue that was empty is so until then. */
export class Thrift {
  #notified = 0
  /** It was empty at so many notifications. */
  #emptyAt = -1
  /** The last claim has shown it: the one that follows need not ask. The one after that asks. */
  #isTold = false
  readonly #claims = new Map<string, Claim | undefined>()

  /** A job was notified, or may have been while nobody listened. */
  readonly come = () => { this.#notified += 1 }

  /** From now on the pool leaves out what is known. */
  apply (pool: Pool): void {
    const query = pool.query.bind(pool)
    Reflect.set(pool, 'query', (text: string, values?: unknown[]) => this.#answer((asked) => query(asked), text, values))
  }

  async #answer (ask: Ask, text: string, values?: unknown[]): Answer {
    if (aboutDelays.test(text)) return { rows: [] }
    if (aboutWaiting.test(text) && this.#isEmpty) return { rows: [{ present: false }] }
    const claim = this.#claimIn(text)
    if (claim) return await this.#claim(ask, claim, values)
    return await ask(adds.test(text) ? { name: 'bullmq-add_job', text, values } : { text, values })
  }

  get #isEmpty (): boolean { return this.#emptyAt === this.#notified }

  async #claim (ask: Ask, { name, text }: Claim, values?: unknown[]): Answer {
    const isTold = this.#isTold && this.#isEmpty && name === 'bullmq-move_to_active'
    this.#isTold = false
    if (isTold) return { rows: [] }
    const asked = this.#notified // what comes from now on is notified after this
    const answer = await ask({ name, text, values })
    const [claimed] = answer.rows
    const isEmpty = claimed === undefined || Reflect.get(claimed, 'others_wait') === false
    if (isEmpty) this.#emptyAt = Math.max(this.#emptyAt, asked)
    this.#isTold = isEmpty && claimed !== undefined
    return answer
  }

  #claimIn (text: string): Claim | undefined {
    if (this.#claims.has(text)) return this.#claims.get(text)
    const [, name, parameters] = claims.exec(text) ?? []
    const asked = `SELECT claimed.*, ${othersWait} AS others_wait FROM ${name}(${parameters}) AS claimed`
    const claim = name === undefined ? undefined : { name: `bullmq-${name}`, text: asked }
    this.#claims.set(text, claim)
    return claim
  }
}
