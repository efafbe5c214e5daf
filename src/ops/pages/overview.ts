// What runs, how far it is, what waits, and what the last day was like.
import { html } from 'ghtml'
import type { ActionReport } from '../../../projections/engine/actions.js'
import type { Day, ProjectionStatus, Queue } from '../answers.js'
import { badge, link, table, text, time } from './layout.js'

export interface Overview {
  root: string
  projections: ProjectionStatus[]
  queue: Queue
  /** Absent when it could not be counted in time. */
  day: Day | undefined
  actions: ActionReport[]
}

export function overview ({ root, projections, queue, day, actions }: Overview): string {
  return html`
<h2>Projections</h2>
!${table('Projections', projectionColumns, projections.map((each) => projectionRow(root, each)), 'There are none.')}
<h2>Webhooks</h2>
!${queueNumbers(root, queue)}
<h2>The last 24 hours</h2>
!${day ? charts(day) : html`<p class="none">They could not be counted in time: Postgres is busy.</p>`}
<h2>Actions</h2>
!${table('Actions', ['began', 'projection', 'action', 'state', 'message'],
    actions.map((each) => actionRow(root, each)), 'None yet.')}`
}

const projectionColumns = ['name', 'state', 'position', 'lag', 'oldest waits', 'events/s', 'generation', 'parked streams']

function projectionRow (root: string, each: ProjectionStatus): string[] {
  const active = each.generations.find(({ state }) => state === 'active')
  return [
    link(`${root}/projections/${each.name}`, each.name),
    projectionState(each),
    text(each.position),
    text(lagOf(each)),
    text(each.lag_events > 0 ? `${each.lag_seconds.toFixed(1)} s` : ''),
    text(each.rate.toFixed(1)),
    text(active ? `${active.generation} of ${each.generations.length}` : ''),
    each.parked_streams > 0 ? badge(String(each.parked_streams), 'bad') : '0'
  ]
}

export const lagOf = ({ lag_events: events, lag_is_exact: isExact }: ProjectionStatus) =>
  `${isExact ? '' : 'more than '}${events} event${events === 1 ? '' : 's'}`

export function projectionState ({ state, action }: ProjectionStatus): string {
  const kind = state === 'running' ? 'good' : state === 'stopped' ? 'bad' : 'waiting'
  return badge(state, kind) + (action ? ` ${badge(`${action.action}${percent(action)}`, 'waiting')}` : '')
}

const percent = ({ progress }: ActionReport) => progress === null ? '' : ` ${Math.floor(progress * 100)} %`

function queueNumbers (root: string, queue: Queue): string {
  const { suspended_endpoints: suspended, failing_endpoints: failing, unaccounted } = queue
  const lost = unaccounted === null ? 'not counted yet' : badge(String(unaccounted), unaccounted === 0 ? 'good' : 'bad')
  const numbers: [string, string][] = [
    ['due and waiting', text(queue.due)],
    ['in flight', text(queue.in_flight)],
    ['held', queue.held > 0 ? link(`${root}/deliveries?status=held`, String(queue.held)) : '0'],
    ['oldest due', queue.oldest_due === null ? 'none' : time(queue.oldest_due)],
    ['suspended endpoints', suspended > 0 ? link(`${root}/endpoints`, String(suspended)) : '0'],
    ['failing endpoints', text(failing)],
    ['unaccounted calls', lost]
  ]
  return html`<dl>!${numbers.map(([name, value]) => html`<div><dt>${name}</dt><dd>!${value}</dd></div>`)}</dl>`
}

function charts ({ attempts: hours, share, commands }: Day): string {
  const remark = share < 1 ? ` (from a sample of ${(share * 100).toPrecision(2)} %)` : ''
  const failed = (attempts: Record<string, number>) =>
    Object.entries(attempts).reduce((total, [outcome, n]) => total + (outcome === 'delivered' ? 0 : n), 0)
  return chart({
    title: 'Deliveries: attempts by outcome, an hour',
    remark,
    unit: 'attempts',
    kind: 'bars',
    names: ['delivered', 'failed'],
    points: hours.map(({ hour, attempts }) => ({ at: hour, values: [attempts.delivered ?? 0, failed(attempts)] }))
  }) + chart({
    title: 'Latency from a call to its delivery, in seconds',
    remark,
    unit: 'seconds',
    kind: 'lines',
    names: ['median', '99th percentile'],
    points: hours.map(({ hour, latency }) => ({ at: hour, values: [latency?.p50 ?? null, latency?.p99 ?? null] }))
  }) + chart({
    title: 'Commands a minute',
    unit: 'commands a minute',
    kind: 'bars',
    names: ['accepted', 'refused', 'failed'],
    points: everyTenMinutes(commands).map(({ at, accepted, refused, failed }) =>
      ({ at, values: [accepted / 10, refused / 10, failed / 10] }))
  })
}

const tenMinutes = 600_000

/** Ten minutes without a command have no row. */
function everyTenMinutes (commands: Day['commands']): Day['commands'] {
  const byTime = new Map(commands.map((each) => [Date.parse(each.at), each]))
  const last = Math.floor(Date.now() / tenMinutes) * tenMinutes
  return Array.from({ length: 144 }, (_none, index) => {
    const from = last - (143 - index) * tenMinutes
    return byTime.get(from) ?? { at: new Date(from).toISOString(), accepted: 0, refused: 0, failed: 0 }
  })
}

function actionRow (root: string, { id, began_at: began, projection, action, state, message }: ActionReport): string[] {
  const kind = state === 'done' ? 'good' : state === 'failed' ? 'bad' : 'waiting'
  const page = link(`${root}/actions/${id}`, action)
  return [time(began), text(projection), page, badge(state, kind), text(message.split('\n')[0])]
}

const kinds = ['one', 'two', 'three'] as const
/** In units of the view box; the margins have room for the letters that the style gives a phone. */
const [width, height, left, bottom] = [720, 180, 64, 26]

interface Chart {
  title: string
  /** Of the numbers, for instance 'attempts'. */
  unit: string
  names: readonly string[]
  /** One for each point of time; null where there is nothing to show. */
  points: readonly { at: string, values: readonly (number | null)[] }[]
  kind: 'bars' | 'lines'
  /** Added to the title. */
  remark?: string
}

export function chart ({ title, unit, names, points, kind, remark = '' }: Chart): string {
  const sums = points.map(({ values }) => kind === 'bars' ? sum(values) : Math.max(...values.map((value) => value ?? 0)))
  const most = ceiling(Math.max(...sums, 0))
  const keys = names.map((name, index) => html`<span class="key ${kinds[index] ?? ''}"></span>${name}`)
  const marks = kind === 'bars' ? bars(points, most) : names.map((_name, index) => line(points, index, most)).join('')
  return html`
<figure>
<figcaption>${title}${remark} !${keys}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}: at most ${shown(most)} ${unit}">
!${[0, most / 2, most].map((value) => html`
<line class="grid" x1="${left}" x2="${width}" y1="${y(value, most)}" y2="${y(value, most)}"/>
<text x="${left - 6}" y="${y(value, most) + 4}" text-anchor="end">${shown(value)}</text>`)}
!${hours(points)}
!${marks}
</svg>
<details><summary>${title} as a table</summary>
!${table(title, ['from (UTC)', ...names], points.map(row), 'Nothing yet.')}
</details>
</figure>`
}

function row ({ at, values }: Chart['points'][number]): string[] {
  return [text(clock(at)), ...values.map((value) => text(value === null ? '–' : shown(value)))]
}

function bars (points: Chart['points'], most: number): string {
  const step = (width - left) / Math.max(points.length, 1)
  return points.flatMap(({ values }, index) => values.map((value, nth) => {
    const below = sum(values.slice(0, nth))
    const [from, to] = [y(below, most), y(below + (value ?? 0), most)]
    if (from - to < 0.05) return ''
    return html`<rect class="${kinds[nth] ?? ''}" x="${at(index, step)}"
width="${Math.max(step - 1, 0.5).toFixed(1)}" y="${to.toFixed(1)}" height="${(from - to).toFixed(1)}"/>`
  })).join('')
}

/** A gap where there is nothing to show; a point alone is a short line. */
function line (points: Chart['points'], nth: number, most: number): string {
  const step = (width - left) / Math.max(points.length, 1)
  let isDrawn = false
  const path = points.map(({ values }, index) => {
    const value = values[nth] ?? null
    const [command, end] = isDrawn ? ['L', ''] : ['M', 'h2']
    isDrawn = value !== null
    return value === null ? '' : `${command}${at(index + 0.5, step)} ${y(value, most).toFixed(1)}${end}`
  }).join('')
  return path === '' ? '' : html`<path class="${kinds[nth] ?? ''}" d="${path}"/>`
}

function hours (points: Chart['points']): string {
  const every = Math.max(1, Math.ceil(points.length / 8))
  const step = (width - left) / Math.max(points.length, 1)
  return points.map(({ at: from }, index) => index % every === 0
    ? html`<text x="${at(index, step)}" y="${height - 4}">${clock(from)}</text>`
    : '').join('')
}

const at = (index: number, step: number) => (left + index * step).toFixed(1)
const y = (value: number, most: number) => (height - bottom) - (value / most) * (height - bottom - 10)
const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0)
const clock = (iso: string) => iso.slice(11, 16)
const shown = (value: number) => value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))

/** The next of 1, 2, 5, 10, 20 … that is not less. */
function ceiling (value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((times) => times * power >= value) ?? 10) * power
}
