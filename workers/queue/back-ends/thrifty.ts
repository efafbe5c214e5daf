// What BullMQ asks Postgres, with fewer statements: a job that comes alone takes four of them instead of nine.
import type { Pool, QueryResult } from 'pg'

/** BullMQ names its commands nowhere but in their text. What is not recognised is sent as it is. */
const claiming = /\bmove_to_(active|(completed|failed)_fetch)\(/
const often = /^SELECT (\* FROM )?(add_job|move_to_active|move_to_completed_fetch)\(/m
/** When a delayed job is due, and how long a limited queue rests. Our queues have neither. */
const aboutDelays = /\b(FROM next_signal|SELECT next_delay)\(/
const aboutWaiting = /\bstate = 'waiting'\s*\)[^;]*\bAS present\b/

type Ask = (text: string, values?: unknown[]) => Promise<Pick<QueryResult, 'rows'>>

export class Thrift {
  /** Whether jobs may have come since the last claim of one began: each that comes is notified. */
  #mayHaveCome = true

  /** A job was notified, or may have been while nobody listened. */
  readonly come = () => { this.#mayHaveCome = true }

  /** From now on the pool leaves out what is known. */
  apply (pool: Pool): void {
    const query = pool.query.bind(pool)
    const ask: Ask = async (text, values) =>
      await query(often.test(text) ? { name: nameOf(text), text, values } : { text, values })
    Reflect.set(pool, 'query', async (text: string, values?: unknown[]) => await this.#answer(ask, text, values))
  }

  async #answer (ask: Ask, text: string, values?: unknown[]): ReturnType<Ask> {
    if (aboutDelays.test(text)) return { rows: [] }
    if (aboutWaiting.test(text) && !this.#mayHaveCome) return { rows: [{ present: false }] }
    if (!claiming.test(text)) return await ask(text, values)
    this.#mayHaveCome = false // what comes from now on is notified after this
    try {
      return await ask(text, values)
    } catch (error) {
      this.come()
      throw error
    }
  }
}

/** Of the prepared statement. */
const nameOf = (text: string) => `bullmq-${often.exec(text)?.[2] ?? ''}`
