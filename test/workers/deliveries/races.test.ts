// Each statement of the delivery log stops where it has its snapshot, and again before it commits; each other one runs
// in between, and the first one goes on or its connection is killed. RACES=all runs all of these pairs.
import pg, { type Pool } from 'pg'
import t from 'tap'
import { setTimeout as delay } from 'node:timers/promises'
import { inTransaction } from '../../../src/postgres/transaction.js'
import {
  addDeliveries, answer, changeAs, deliveryOf, driving, endedAs, senderRig, url
} from '../../support/workers/sender-rig.js'
import { claim, type Attempt } from '../../../workers/deliveries/claim.js'
import { closeLost, recordOutcomes } from '../../../workers/deliveries/outcome.js'
import {
  askForAttempt, beginAnew, cancelHeld, cancelRestored, eraseDeliveries, removePayloads
} from '../../../workers/deliveries/pending.js'
import { findWaiting } from '../../../workers/deliveries/reconcile.js'
import { continueHastening, endInterruption } from '../../../workers/deliveries/webhooks.js'
import { dismiss, enlist, heartbeat, removeSilent } from '../../../workers/deliveries/workers.js'

const gate = 4_711
const idOf = (nth: number) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`
const [running, lost, waits, exhausted, old, ofDeleted, fresh] = [1, 2, 3, 4, 5, 6, 7].map(idOf)
if (!running || !lost || !waits || !exhausted || !old || !ofDeleted || !fresh) throw new Error('seven are named')
const due = Array.from({ length: 12 }, (_, nth) => idOf(100 + nth))
const [mine, steady, dead] = ['1', '2', '3']
if (!mine || !steady || !dead) throw new Error('three are named')
/** Later than what claims take for long over, however long all pairs take. */
const startedAt = new Date(Date.now() + 1_800_000)

// Assistant 1 has two attempts of a worker that lives, one of them on demand, and one of a worker that is dead; a dozen
// are due, and one waits for a retry. Assistant 2 of the same user was deleted while its webhook was off.
const state = `
  DELETE FROM ledger.webhook_due; DELETE FROM ledger.webhook_deliveries; DELETE FROM ledger.webhooks;
  DELETE FROM ledger.webhook_attempts; DELETE FROM ledger.webhook_workers; DELETE FROM ledger.webhook_notices;
  INSERT INTO ledger.webhook_workers OVERRIDING SYSTEM VALUE VALUES
    (${mine}, 'mine', now(), now()), (${steady}, 'steady', now(), now() - interval '1 hour'),
    (${dead}, 'dead', now() - interval '1 minute', now());
  INSERT INTO ledger.webhooks (assistant_id, user_id, url, off_since, deleted_at, restarted_at, is_hastening) VALUES
    (1, '1', '${url}', NULL, NULL, now() - interval '1 hour', true), (2, '1', '${url}', now(), now(), '-infinity', false);
  INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, status, body, failures, failures_from, created_at)
  SELECT id, id, 'call.completed', '1', assistant_id, status, '{}', failures, now() - interval '2 hours', now() - days * interval '1 day'
  FROM (VALUES ('${running}'::uuid, 1, 'scheduled', 0, 1), ('${lost}', 1, 'scheduled', 0, 1), ('${waits}', 1, 'scheduled', 1, 1),
    ('${exhausted}', 1, 'exhausted', 4, 1), ('${old}', 1, 'delivered', 0, 100), ('${ofDeleted}', 2, 'scheduled', 0, 1)
    ${due.map((id) => `, ('${id}', 1, 'scheduled', 0, 1)`).join('')}) AS d (id, assistant_id, status, failures, days);
  INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at, worker, started_at)
  SELECT id, 'schedule', assistant_id, '1', CASE WHEN failures > 0 THEN now() + interval '1 hour' ELSE created_at END,
    CASE id WHEN '${running}' THEN ${mine} WHEN '${lost}' THEN ${dead} END,
    CASE WHEN id IN ('${running}', '${lost}') THEN timestamptz '${startedAt.toISOString()}' END
  FROM ledger.webhook_deliveries WHERE status = 'scheduled';
  INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at, worker, started_at)
  VALUES ('${exhausted}', 'manual', 1, '1', now(), ${mine}, '${startedAt.toISOString()}');`

const of = { worker: mine, started_at: startedAt, assistant_id: '1', user_id: '1', url, revision: '1' }
const what = { body: Buffer.from('{}'), failures: 0, ageMs: 0, secrets: [], headers: null }
const attempt: Attempt = { delivery_id: running, trigger: 'schedule', n: 1, ...of, ...what }

const asked: Attempt = { ...attempt, delivery_id: exhausted, trigger: 'manual' }

/** Attempts that were claimed and whose outcome is not recorded. */
let sent: Attempt[] = []
const claiming = { room: 500, bytes: 2 ** 26 }
const claims = async (pool: Pool) => {
  const { attempts } = await claim(pool, ['1', '2'], { worker: mine, ...claiming })
  sent.push(...attempts)
}
const outcome = (status: number) => (pool: Pool) => recordOutcomes(pool, [endedAs(attempt, answer(status, '60'))])
const changes = (change: Parameters<typeof changeAs>[1][number]) => (pool: Pool) =>
  inTransaction(pool, (tx) => changeAs(tx, [change]))

const statements: Record<string, (pool: Pool) => Promise<unknown>> = {
  claim: claims,
  success: outcome(200),
  failure: outcome(500),
  refusal: outcome(429),
  gone: outcome(410),
  'success on demand': (pool) => recordOutcomes(pool, [endedAs(asked, answer(200))]),
  insert: (pool) => addDeliveries(pool, [deliveryOf(fresh)]),
  'another URL': changes({ url: `${url}/new` }),
  off: changes({ is_on: false }),
  on: changes({ assistant_id: 2 }),
  resume: (pool) => inTransaction(pool, (tx) => endInterruption(tx, '1')),
  hastening: continueHastening,
  heartbeat: (pool) => heartbeat(pool, mine),
  'closing the silent': async (pool) => [await removeSilent(pool, steady), await closeLost(pool)],
  'closing the living': async (pool) => [await dismiss(pool, mine), await closeLost(pool)],
  reconciler: (pool) => findWaiting(pool),
  redelivery: (pool) => askForAttempt(pool, exhausted, 'manual'),
  'redelivery beside': (pool) => askForAttempt(pool, running, 'manual'),
  recover: (pool) => beginAnew(pool, [running, waits, exhausted, ...due]),
  erasure: (pool) => inTransaction(pool, (tx) => eraseDeliveries(tx, [running, waits, ...due.slice(6)])),
  retention: (pool) => inTransaction(pool, (tx) => removePayloads(tx, 90)),
  'held too long': cancelHeld,
  restore: cancelRestored
}

interface Pair { first: string, second: string, where: 'start' | 'end', isKilled: boolean }

function begin (name: string, pool: Pool): Promise<unknown> {
  const begun = statements[name]?.(pool) ?? Promise.reject(new Error(name))
  begun.catch(() => {}) // told when it has ended
  return begun
}

const pidOf = async (pool: Pool) =>
  (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid

/** Two connections, each of a pool, and a third one that holds the gate before the first. */
class Races {
  constructor (
    private readonly one: Pool, private readonly other: Pool, private readonly pool: Pool,
    private readonly control: pg.PoolClient
  ) {}

  /** @returns what went wrong */
  async race ({ first, second, where, isKilled }: Pair): Promise<string | undefined> {
    await this.control.query(state)
    sent = []
    const [one, other] = await Promise.all([this.one, this.other].map(pidOf))
    await this.one.query(`SET race.gate = '${where}'`)
    await this.control.query(`SELECT pg_advisory_lock(${gate})`)
    const begun = begin(first, this.one)
    await this.#settled(begun, one ?? 0)
    const between = begin(second, this.other)
    await this.#settled(between, other ?? 0)
    if (isKilled) await this.control.query('SELECT pg_terminate_backend($1, 1000)', [one])
    await this.control.query(`SELECT pg_advisory_unlock(${gate})`)
    const [ended, passed] = await Promise.allSettled([begun, between])
    if (ended.status === 'rejected' && !isKilled) return `${first}: ${ended.reason}`
    if (passed.status === 'rejected') return `${second}: ${passed.reason}`
    return await this.check()
  }

  async #isWaiting (pid: number): Promise<boolean> {
    return (await this.control.query('SELECT FROM pg_locks WHERE pid = $1 AND NOT granted', [pid])).rowCount !== 0
  }

  /** Until it has ended, or waits for a lock. */
  async #settled (work: Promise<unknown>, pid: number): Promise<void> {
    const ends = work.then(() => true, () => true)
    while (!await Promise.race([ends, delay(1, false)])) if (await this.#isWaiting(pid)) return
  }

  async #count (text: string): Promise<number> {
    const { rows: [row] } = await this.control.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${text}`)
    return row?.n ?? NaN
  }

  async check (): Promise<string | undefined> {
    const isPending = "d.status = 'scheduled' AND d.type = 'call.completed'"
    const broken = {
      'a delivery is lost': `ledger.webhook_deliveries d
        WHERE ${isPending} AND NOT EXISTS (
          SELECT FROM ledger.webhook_due due WHERE due.delivery_id = d.id AND due.trigger = 'schedule')`,
      'more run than may': '(SELECT FROM ledger.webhook_due WHERE worker IS NOT NULL AND assistant_id = 1 OFFSET 12) more'
    }
    for (const [problem, text] of Object.entries(broken)) if (await this.#count(text) > 0) return problem
    const { rows: final } = await this.control.query<{ id: string }>(
      "SELECT id FROM ledger.webhook_deliveries WHERE status IN ('delivered', 'cancelled')")
    return await this.#settle(new Set(final.map(({ id }) => id)))
  }

  /** All workers die, all webhooks are on, and another worker delivers what there is. */
  async #settle (final: Set<string>): Promise<string | undefined> {
    await this.control.query('DELETE FROM ledger.webhook_workers; UPDATE ledger.webhook_due SET due_at = now()')
    await closeLost(this.pool)
    await this.control.query(`
      UPDATE ledger.webhooks SET off_since = NULL, suspended_at = NULL, suspended_reason = NULL, paused_until = NULL,
        failing_since = NULL;
      UPDATE ledger.webhook_due SET due_at = now()`)
    const worker = await enlist(this.pool, 'last')
    const again: Attempt[] = []
    for (let attempts: Attempt[] = []; ; again.push(...attempts)) {
      ({ attempts } = await claim(this.pool, ['1', '2'], { worker, ...claiming }))
      if (attempts.length === 0) break
      await driving(this.pool).end(attempts, answer(200))
    }
    if (await this.#count('ledger.webhook_due') > 0) return 'something is due that nobody sends'
    const repeated = again.find(({ delivery_id, trigger }) => trigger === 'schedule' && final.has(delivery_id))
    if (repeated) return `${repeated.delivery_id} was final, and is sent`
    const finalIds = `ARRAY[${[...final].map((id) => `'${id}'`).join(', ')}]::uuid[]`
    if (await this.#count(`ledger.webhook_deliveries WHERE status = 'scheduled'
      OR (id = ANY(${finalIds}) AND status NOT IN ('delivered', 'cancelled'))`) > 0) return 'a status is wrong in the end'
    return await this.#miscounted([attempt, asked, { ...attempt, delivery_id: lost ?? '' }, ...sent, ...again])
  }

  /** Whatever was sent has an attempt, and nothing else has: so what is sent again had an `unknown` or a failure. */
  async #miscounted (all: Attempt[]): Promise<string | undefined> {
    const times = new Map<string, number>()
    for (const { delivery_id: deliveryId, trigger } of all) {
      times.set(`${deliveryId} ${trigger}`, (times.get(`${deliveryId} ${trigger}`) ?? 0) + 1)
    }
    const { rows: told } = await this.control.query<{ key: string, n: number }>(
      "SELECT delivery_id || ' ' || trigger AS key, count(*)::integer AS n FROM ledger.webhook_attempts GROUP BY 1")
    const wrong = told.find(({ key, n }) => times.get(key) !== n) ??
      [...times].find(([key]) => !told.some((each) => each.key === key))
    return wrong && `sent and told of differ: ${JSON.stringify(wrong)}`
  }
}

t.test('no statement of the delivery log harms another one', async (t) => {
  const { pool, databaseUrl } = await senderRig(t)
  const tables = ['webhooks', 'webhook_deliveries', 'webhook_due', 'webhook_workers', 'webhook_notices']
  await pool.query(`
    CREATE SCHEMA race;
    CREATE FUNCTION race.pass(place text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      IF current_setting('race.gate', true) = place THEN
        PERFORM pg_advisory_lock_shared(${gate}), pg_advisory_unlock_shared(${gate});
      END IF;
    END $$;
    CREATE FUNCTION race.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN
      PERFORM race.pass('start'); RETURN pg_catalog.now(); END $$;
    CREATE FUNCTION race.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN
      PERFORM race.pass('start'); RETURN pg_catalog.clock_timestamp(); END $$;
    CREATE FUNCTION race.at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM race.pass('end'); RETURN NULL; END $$;
    ${tables.map((table) => `
      CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT OR UPDATE OR DELETE ON ledger.${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION race.at_commit()`).join(';')}`)
  const control = await pool.connect()
  const options = '-c search_path=race,pg_catalog -c deadlock_timeout=100ms'
  const [one, other] = [1, 2].map(() => new pg.Pool({ connectionString: databaseUrl, max: 1, options })) as [Pool, Pool]
  for (const each of [one, other]) each.on('error', () => {})
  const races = new Races(one, other, pool, control)
  t.teardown(async () => {
    await Promise.all([one.end(), other.end()])
    control.release()
  })
  const names = Object.keys(statements)
  const all = names.flatMap((first) => names.flatMap((second) =>
    (['start', 'end'] as const).flatMap((where) =>
      [false, true].map((isKilled): Pair => ({ first, second, where, isKilled })))))
  const every = process.env.RACES === 'all' ? 1 : 97 // no divisor of their number
  const some = all.filter((_, nth) => nth % every === 0)
  for (const pair of some) {
    const { first, second, where, isKilled } = pair
    const wrong = await races.race(pair)
    if (wrong !== undefined) t.fail(`${first} ${isKilled ? 'is killed' : 'stops'} at its ${where}, ${second} runs: ${wrong}`)
  }
  t.pass(`${some.length} of ${all.length} pairs`)
})
