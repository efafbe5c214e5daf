// Claims the attempts that a worker makes next: due rows of assistants, with everything that sending needs. Claims of
// one user are serial, so the bounds are exact.
import type { Pool } from 'pg'
import type { SealedRow } from '../../src/privacy/sealed-text.js'
import { executeIndexed } from './indexed.js'

/** What starts an attempt: the schedule, a redelivery (`manual`), a test or a probe. Each numbers its own attempts. */
export type Trigger = 'schedule' | 'manual' | 'test' | 'probe'

/** An attempt that only this worker may send. */
export interface Attempt {
  delivery_id: string
  trigger: Trigger
  n: number
  worker: string
  /** By the clock of Postgres, which every worker shares. */
  started_at: Date
  assistant_id: string
  user_id: string
  url: string
  /** Revision of the webhook. An outcome counts only if the webhook still has this one. */
  revision: string
  body: Buffer
  /** Failed attempts of its schedule, and milliseconds since that began. */
  failures: number
  ageMs: number
  /** Encrypted, the current one first. */
  secrets: SealedRow[]
  /** The user's own, encrypted. */
  headers: SealedRow | null
  traceparent?: string | null
  /** Names of the user's own headers, set when they are sent. */
  header_names?: string | null
  /** It crashed its workers, so no other such attempt runs beside it. */
  isSuspect?: boolean
}

export interface Claim {
  attempts: Attempt[]
  /** Assistants whose user or webhook somebody else has locked: ask again soon. */
  busy: string[]
  /** Assistants with more than this worker has room for. */
  left: string[]
  /** Assistants with more, which a pause or a rate limit delays. */
  later: Array<{ assistant_id: string, inMs: number }>
}

export interface Claiming {
  worker: string
  /** Most attempts, and most bytes of their bodies. */
  room: number
  bytes: number
  /** Claims only attempts that crashed their workers twice in a row. */
  suspects?: boolean
}

/** Bounds on concurrent attempts. Once a user has `shared` of them, an assistant gets only its first two. */
export const bounds = { ofAssistant: 10, ofUser: 50, shared: 30, firstOnes: 2, ofFailing: 1 }
/** Crashes in a row after which a worker sends a delivery with no other such one, and after which it is held. */
export const [suspectAfter, heldAfter] = [2, 4]

const lockSpace = 0x77_68 // any number that nothing else uses for advisory locks with two keys

/** A literal of SQL. Leaves out what is no id: others may write to the queue. */
export const idsIn = (assistants: readonly string[]) => `'{${assistants.filter((id) => /^\d{1,18}$/.test(id)).join()}}'`

/**
 * Claims due attempts of these assistants by two statements in one message, which is one transaction. The first one
 * locks users and notes their assistants. The second has a newer snapshot: it sees what the last lock holder wrote.
 */
export async function claim (pool: Pool, assistants: readonly string[], claiming: Claiming): Promise<Claim> {
  const { worker, room, bytes, suspects } = claiming
  const text = `EXECUTE claim_users(${idsIn(assistants)});
    EXECUTE ${suspects ? 'claim_suspects' : 'claim'}(${worker}, ${room}, ${bytes})`
  const [[users], rows] = await executeIndexed<[Record<'open' | 'busy', string[]>, ClaimRow]>(pool, preparing, text)
  const { open = [], busy = [] } = users ?? {}
  const seen = new Map(rows.map((row) => [row.assistant_id, row]))
  return {
    attempts: rows.flatMap(({ wantsRoom, waitMs, delivery_id, ...row }) =>
      delivery_id === null ? [] : { ...row, delivery_id, body: Buffer.from(row.body) }),
    busy: [...busy, ...open.filter((id) => !seen.has(id))],
    left: [...seen.values()].flatMap(({ assistant_id, wantsRoom }) => wantsRoom ? assistant_id : []),
    later: [...seen.values()].flatMap(({ assistant_id, waitMs: inMs }) => inMs === null ? [] : { assistant_id, inMs })
  }
}

interface ClaimRow extends Omit<Attempt, 'delivery_id' | 'body'> {
  wantsRoom: boolean
  waitMs: number | null
  /** Null if nothing was claimed for the assistant. */
  delivery_id: string | null
  body: string
}

/** When the schedule of delivery `d` began. A restart of its webhook `w` begins it anew. */
export const beginning = (d: string, w: string) => `greatest(${d}.created_at, ${d}.recovered_at, ${w}.restarted_at)`
/** Failures of the schedule of `d`. */
export const failuresOf = (d: string, w: string) =>
  `CASE WHEN ${d}.failures_from >= ${beginning(d, w)} THEN ${d}.failures ELSE 0 END`

/** A webhook `w` that is on and neither suspended nor paused. */
export const isOpen = (w: string, now = 'now()') =>
  `(${w}.off_since IS NULL AND ${w}.suspended_at IS NULL AND coalesce(${w}.paused_until <= ${now}, true))`

// What a bucket may hold, a tenth of `max_per_second`, and what it gets in a second: no second has more than that.
const bucket = (w: string) => `greatest(1, ${w}.max_per_second / 10.0)`
export const refill = (w: string) => `(${w}.max_per_second + 1 - ${bucket(w)})`

// While somebody holds a snapshot open, as a backup does, vacuum cannot remove dead rows from the indexes. So claims
// look for running attempts no further back than an attempt lasts, and for due ones only from `due_from` on.
export const runs = (d: string) => `(${d}.worker IS NOT NULL AND ${d}.started_at > now() - interval '11 minutes')`

const dueOf = (which: string, most: string) => `
    SELECT * FROM (
      SELECT delivery_id, trigger, n, due_at FROM ledger.webhook_due
      WHERE assistant_id = o.assistant_id AND worker IS NULL AND ${which} AND due_at <= o.now
      ORDER BY due_at LIMIT ${most} FOR UPDATE SKIP LOCKED) found`

/** A delivery that was delivered, cancelled or erased meanwhile may still have a due row, which a claim deletes. */
const isToSend = (due: string, d: string) =>
  `(${d}.body IS NOT NULL AND ${d}.erased_at IS NULL AND (${due}.trigger <> 'schedule' OR ${d}.status = 'scheduled'))`

const scheduled = (column = 'trigger') => `${column} = 'schedule'`

// A claim waits for no lock: it skips locked rows, and the worker asks again. `turn` numbers the attempts of an
// assistant, running and new ones; `nth_of_user` those of its user. Every assistant gets a first turn before any gets a
// second. If other assistants of a user wait for room, one gets a single attempt. The claim looks at one due row more
// than it may take, to know whether any is left. (SELECT …) hides the length of an array, so that one plan serves all.
// `= ANY(ARRAY(…))` looks rows up by id: statistics say that a queue is empty, and a join would read all dead entries
// of an index, for instance while a backup runs. A session also keeps a plan that it made for an empty log, and a join
// would read all of it for as long.
const noted = 'ringledger.users_locked'
const opened = `(SELECT current_setting('${noted}')::bigint[])::bigint[]`

const usersSql = `
  WITH asked AS MATERIALIZED (
    SELECT assistant_id, user_id FROM ledger.webhooks WHERE assistant_id = ANY((SELECT $1)::bigint[])
  ), users AS MATERIALIZED (SELECT DISTINCT user_id FROM asked),
  locked AS MATERIALIZED (SELECT user_id, pg_try_advisory_xact_lock(${lockSpace}, hashtext(user_id)) AS is_mine FROM users),
  told AS MATERIALIZED (
    SELECT coalesce(array_agg(assistant_id) FILTER (WHERE is_mine), '{}') AS open,
           coalesce(array_agg(assistant_id) FILTER (WHERE NOT is_mine), '{}') AS busy
    FROM asked JOIN locked USING (user_id)
  )
  SELECT open, busy, set_config('${noted}', open::text, true) FROM told`

const openedSql = `
  me AS MATERIALIZED (
    SELECT id, now() AS now FROM ledger.webhook_workers WHERE id = $1 FOR KEY SHARE
  ), hook AS MATERIALIZED (
    SELECT w.*, me.now, CASE WHEN max_per_second IS NOT NULL
      THEN least(${bucket('w')}, tokens + greatest(0, extract(epoch FROM me.now - tokens_at)) * ${refill('w')})
      ELSE ${bounds.ofUser} END AS tokens_now
    FROM me, ledger.webhooks w WHERE w.assistant_id = ANY(${opened})
    ORDER BY w.assistant_id FOR NO KEY UPDATE OF w SKIP LOCKED
  ), running AS MATERIALIZED (
    SELECT user_id, assistant_id, count(*) AS count, count(*) FILTER (WHERE ${scheduled()}) AS scheduled
    FROM ledger.webhook_due d WHERE ${runs('d')} AND user_id = ANY(ARRAY(SELECT user_id FROM hook))
    GROUP BY user_id, assistant_id
  ), opened AS MATERIALIZED (
    SELECT hook.*, coalesce(r.count, 0) AS running, ${isOpen('hook', 'hook.now')} AS is_open, others_wait,
           greatest(0, CASE WHEN failing_since IS NOT NULL THEN ${bounds.ofFailing} - coalesce(r.scheduled, 0)
             WHEN others_wait THEN 1 ELSE ${bounds.ofAssistant} - coalesce(r.count, 0) END) AS free
    FROM hook
    CROSS JOIN LATERAL (SELECT EXISTS (
      SELECT FROM ledger.webhooks w LEFT JOIN running other USING (assistant_id)
      WHERE w.user_id = hook.user_id AND w.waits_since IS NOT NULL AND w.assistant_id <> ALL(${opened})
        AND coalesce(other.count, 0) < ${bounds.firstOnes} AND ${isOpen('w', 'hook.now')}) AS others_wait) waiting
    LEFT JOIN running r USING (assistant_id)
  )`

const takenSql = (which: string, since: string) => `
  candidate AS MATERIALIZED (
    SELECT o.assistant_id, o.user_id, d.*,
           o.running + row_number() OVER (
             PARTITION BY o.assistant_id ORDER BY ${scheduled('d.trigger')}, d.due_at, d.delivery_id) AS turn,
           ${scheduled('d.trigger')} AND (NOT o.is_open OR o.tokens_now < row_number() OVER (
             PARTITION BY o.assistant_id, ${scheduled('d.trigger')} ORDER BY d.due_at, d.delivery_id)) AS is_later,
           ${scheduled('d.trigger')} AND o.free < row_number() OVER (
             PARTITION BY o.assistant_id, ${scheduled('d.trigger')} ORDER BY d.due_at, d.delivery_id) AS is_beyond
    FROM opened o
    CROSS JOIN LATERAL (${dueOf(`${which} AND trigger <> 'schedule'`, String(bounds.ofAssistant))}
    UNION ALL ${dueOf(`${which} AND trigger = 'schedule' AND due_at >= ${since}`, `CASE
        WHEN o.off_since IS NOT NULL OR o.suspended_at IS NOT NULL THEN 0
        WHEN NOT o.is_open THEN 1 ELSE least(o.free, floor(o.tokens_now)::bigint) + 1 END`)}) d
  ), ranked AS MATERIALIZED (
    SELECT c.*, coalesce(u.count, 0) + nth AS nth_of_user
    FROM (SELECT *, row_number() OVER (
            PARTITION BY user_id ORDER BY ${scheduled()}, turn, due_at, delivery_id) AS nth
          FROM candidate WHERE turn <= ${bounds.ofAssistant} AND NOT is_later AND NOT is_beyond) c
    LEFT JOIN (SELECT user_id, sum(count) AS count FROM running GROUP BY user_id) u USING (user_id)
  ), fitting AS MATERIALIZED (
    SELECT r.*, row_number() OVER by_turns AS nth_of_all, sum(octet_length(d.body)) OVER by_turns AS bytes
    FROM ranked r JOIN ledger.webhook_deliveries d ON d.id = r.delivery_id
    WHERE d.id = ANY(ARRAY(SELECT delivery_id FROM ranked)) AND ${isToSend('r', 'd')} AND (nth_of_user <= ${bounds.shared}
      OR (nth_of_user <= ${bounds.ofUser} AND (turn <= ${bounds.firstOnes} OR trigger <> 'schedule')))
    WINDOW by_turns AS (ORDER BY nth_of_user, due_at, delivery_id)
  ), taken AS (
    UPDATE ledger.webhook_due d SET worker = $1, started_at = date_trunc('milliseconds', clock_timestamp())
    FROM fitting f
    WHERE d.delivery_id = ANY(ARRAY(SELECT delivery_id FROM fitting))
      AND (d.delivery_id, d.trigger) = (f.delivery_id, f.trigger) AND f.nth_of_all <= $2 AND f.bytes <= $3
    RETURNING d.delivery_id, d.trigger, d.n, d.assistant_id, d.user_id, d.started_at, d.due_at
  ), nothing AS MATERIALIZED (
    SELECT c.delivery_id, c.trigger FROM candidate c JOIN ledger.webhook_deliveries d ON d.id = c.delivery_id
    WHERE d.id = ANY(ARRAY(SELECT delivery_id FROM candidate)) AND NOT ${isToSend('c', 'd')} FOR NO KEY UPDATE OF d SKIP LOCKED
  ), dropped AS (
    DELETE FROM ledger.webhook_due due USING nothing
    WHERE due.delivery_id = ANY(ARRAY(SELECT delivery_id FROM nothing))
      AND (due.delivery_id, due.trigger) = (nothing.delivery_id, nothing.trigger)
  )`

/** The user's secrets sign, unless the assistant has a secret of its own whose overlap with them is over. */
function secretsOf (row: string): string {
  return `
    SELECT json_agg(json_build_object('key_id', s.key_id, 'sealed', encode(s.sealed, 'base64')) ORDER BY s.id DESC)
    FROM ledger.webhook_secrets s
    WHERE s.user_id = ${row}.user_id AND (s.expires_at IS NULL OR s.expires_at > now())
      AND (s.assistant_id = ${row}.assistant_id OR (s.assistant_id IS NULL AND NOT EXISTS (
        SELECT FROM ledger.webhook_secrets own
        WHERE own.user_id = s.user_id AND own.assistant_id = ${row}.assistant_id AND own.expires_at IS NULL
          AND coalesce(own.beside_user_until, '-infinity') <= now())))`
}

/** @param isUsual whether the claim looked at everything that waits, from the first row on */
const restSql = (isUsual: boolean) => `
  rest AS MATERIALIZED (
    SELECT opened.assistant_id, count(t.delivery_id) FILTER (WHERE ${scheduled('c.trigger')}) AS scheduled,
           count(t.delivery_id) > 0 AS has_any,
           coalesce(bool_or(c.is_later AND NOT c.is_beyond), false) AS is_later,
           min(c.due_at) FILTER (WHERE t.delivery_id IS NULL AND ${scheduled('c.trigger')}) AS first_left,
           coalesce(bool_or(t.delivery_id IS NULL AND NOT c.is_later), false)
             AND (min(u.count) >= ${bounds.shared} OR bool_or(others_wait)) AS wants_user,
           coalesce(bool_or(f.delivery_id IS NOT NULL AND t.delivery_id IS NULL), false) AS wants_room
    FROM opened
    JOIN (SELECT user_id, sum(count) AS count
          FROM (SELECT user_id, 0 AS count FROM opened UNION ALL SELECT user_id, count FROM running
            UNION ALL SELECT user_id, 1 FROM taken) each GROUP BY user_id) u USING (user_id)
    LEFT JOIN candidate c USING (assistant_id)
    LEFT JOIN fitting f USING (assistant_id, delivery_id, trigger)
    LEFT JOIN taken t USING (assistant_id, delivery_id, trigger)
    GROUP BY opened.assistant_id
  ), noted AS (
    UPDATE ledger.webhooks w
    SET waits_since = CASE WHEN rest.wants_user
          THEN CASE WHEN rest.has_any THEN clock_timestamp() ELSE coalesce(w.waits_since, clock_timestamp()) END END,
        due_from = CASE WHEN o.is_open AND ${isUsual} THEN least(rest.first_left, o.now - interval '1 minute') ELSE w.due_from END,
        tokens = CASE WHEN w.max_per_second IS NULL THEN w.tokens ELSE o.tokens_now - rest.scheduled END,
        tokens_at = CASE WHEN w.max_per_second IS NULL THEN w.tokens_at ELSE o.now END
    FROM rest JOIN opened o USING (assistant_id)
    WHERE w.assistant_id = rest.assistant_id
      AND (rest.wants_user OR w.waits_since IS NOT NULL OR (o.is_open AND ${isUsual} AND w.due_from < o.now - interval '2 minutes')
        OR (rest.scheduled > 0 AND w.max_per_second IS NOT NULL))
  )
  SELECT rest.wants_room AS "wantsRoom", CASE WHEN NOT rest.is_later THEN NULL
           WHEN o.is_open THEN ceil(1000 * (1 - (o.tokens_now - rest.scheduled)) / ${refill('o')})
           ELSE ceil(1000 * extract(epoch FROM o.paused_until - o.now)) END::float8 AS "waitMs",
         t.delivery_id, t.trigger, t.n, $1 AS worker, t.started_at, o.assistant_id, o.user_id, coalesce(o.url, '') AS url, o.revision, d.body, ${failuresOf('d', 'o')} AS failures,
         CASE WHEN d.id IS NOT NULL
           THEN extract(epoch FROM clock_timestamp() - ${beginning('d', 'o')}) * 1000 END::float8 AS "ageMs",
         CASE WHEN t.delivery_id IS NOT NULL THEN coalesce((${secretsOf('o')}), '[]') END AS secrets,
         CASE WHEN o.headers IS NOT NULL
           THEN json_build_object('key_id', o.headers_key_id, 'sealed', encode(o.headers, 'base64')) END AS headers, d.traceparent
  FROM opened o JOIN rest USING (assistant_id)
  LEFT JOIN taken t USING (assistant_id)
  LEFT JOIN ledger.webhook_deliveries d ON d.id = t.delivery_id
  ORDER BY t.due_at, t.delivery_id`

const usualSql = `WITH ${openedSql}, ${takenSql(`crashes < ${suspectAfter}`, 'o.due_from')}, ${restSql(true)}`
const suspectsSql = `WITH ${openedSql}, ${takenSql(`crashes >= ${suspectAfter}`, "'-infinity'")}, ${restSql(false)}`
const preparing = `PREPARE claim_users (bigint[]) AS ${usersSql};
${['claim', 'claim_suspects'].map((name, nth) =>
  `PREPARE ${name} (bigint, bigint, bigint) AS ${[usualSql, suspectsSql][nth]}`).join(';\n')}`
