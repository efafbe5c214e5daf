// The last day of a user by the hour: how calls ended, and what became of their webhooks.
import Type from 'typebox'
import { countCalls, type HourCount } from '../../../projections/calls.js'
import { countDeliveries } from '../../../workers/deliveries/read.js'
import type { App } from '../../http/app-types.js'
import { answered, One } from '../../http/docs/describe.js'
import { readErrors, readHeaders, reading } from '../../http/read-position.js'
import type { ApiServices } from '../../services/services.js'

const hourMs = 3_600_000
const hoursOfDay = 24

/** Each is an entry of an index. */
const mostCounted = 100_000

const Counts = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: Type.Integer({ minimum: 1 }),
  description: 'How many by status. A status that none has is absent.'
})
const Hour = Type.Object({
  hour: Type.String({ description: 'When the hour begins: ISO 8601, UTC.' }), counts: Counts
}, { title: 'HourCounts' })
const Hours = Type.Object({
  hours: Type.Array(Hour, { description: '24 hours, oldest first. The last one has not ended yet.' }),
  is_exact: Type.Boolean({
    description: `False where there are more than ${mostCounted.toLocaleString('en')}: then the newest of them are counted.`
  })
}, { title: 'HoursOfDay' })
const OwnDay = Type.Object({ calls: Hours, deliveries: Hours }, { title: 'OwnDay' })

const hour = '2026-01-31T12:00:00.000Z'
const ownDay = {
  calls: { hours: [{ hour, counts: { completed: 41, 'no-answer': 7 } }], is_exact: true },
  deliveries: { hours: [{ hour, counts: { delivered: 40, scheduled: 1 } }], is_exact: true }
}

const getDaySchema = {
  operationId: 'getDay',
  summary: 'See your last day by the hour',
  description: 'Calls in the hour that they ended in, and webhooks in the hour that they were made in.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  response: { 200: answered('The last 24 hours.', One(OwnDay), { data: ownDay }), ...readErrors }
}

export function getDay (app: App, { pool, positions }: ApiServices): void {
  const options = { schema: getDaySchema, ...reading(() => ['calls', 'deliveries'], positions, undefined, 'list') }
  app.get('/user/day', options, async ({ user }) => {
    const first = Math.floor(Date.now() / hourMs) - hoursOfDay + 1
    const hours = [first, first + hoursOfDay].map((hour) => new Date(hour * hourMs)) as [Date, Date]
    const asked = [pool, user.id, ...hours, mostCounted] as const
    const [calls, deliveries] = await Promise.all([countCalls(...asked), countDeliveries(...asked)])
    return { data: { calls: byHour(first, calls), deliveries: byHour(first, deliveries) } }
  })
}

function byHour (first: number, found: readonly HourCount[]) {
  const hours = Array.from({ length: hoursOfDay }, (_, index) => {
    const counts = found.filter((each) => each.hour === first + index).map(({ status, count }) => [status, count])
    return { hour: new Date((first + index) * hourMs).toISOString(), counts: Object.fromEntries(counts) }
  })
  return { hours, is_exact: found.reduce((sum, { count }) => sum + count, 0) <= mostCounted }
}
