// Charts as SVG: each has its numbers in a table, too, for those who do not see it.
import { html } from 'ghtml'
import { table, text } from './layout.js'

const kinds = ['one', 'two', 'three'] as const
/** In units of the view box; the margins have room for the letters that the style gives a phone. */
const [width, height, left, bottom] = [720, 180, 64, 26]

export interface Chart {
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
