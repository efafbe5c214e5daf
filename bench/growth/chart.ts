// Draws what grows as a picture that needs nothing but itself: SVG.
import { requestNames, type Grown } from './measure.js'

interface Line { name: string, points: Array<[x: number, y: number]> }
interface Panel { title: string, x: string, y: string, lines: Line[] }

const [width, height, left, top, bottom] = [440, 300, 60, 40, 50]
const colours = ['#1b6ca8', '#c0392b', '#1e8449', '#9a5b00', '#6c3483']

/** Two panels: requests by the size of the log, and a change by the length of its stream. */
export function chart (grown: readonly Grown[]): string {
  const perSecond = (name: string): Line =>
    ({ name, points: grown.map(({ events, requests }) => [events, requests[name]?.perSecond ?? NaN]) })
  const streams = grown.at(-1)?.streams ?? []
  const times = (name: string, of: 'cold' | 'warm' | 'read'): Line =>
    ({ name, points: streams.map((each) => [each.updates, each[of]]) })
  const panels: Panel[] = [
    { title: 'Requests a second, 32 in flight', x: 'events in the log', y: '', lines: requestNames.map(perSecond) },
    {
      title: 'One change, in milliseconds',
      x: 'updates of the assistant before',
      y: '',
      lines: [times('PUT, stream not known', 'cold'), times('PUT, stream known', 'warm'), times('GET', 'read')]
    }
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * width} ${height}" font-family="sans-serif" font-size="12">
<title>What grows with the log, and with one stream</title>
<rect width="100%" height="100%" fill="#fff"/>
${panels.map((panel, index) => `<g transform="translate(${index * width} 0)">\n${drawn(panel)}\n</g>`).join('\n')}
</svg>
`
}

function drawn ({ title, x, lines }: Panel): string {
  const points = lines.flatMap((line) => line.points).filter((point) => point.every(Number.isFinite))
  const across = scale(points.map(([value]) => value), left, width - 20)
  const up = scale(points.map(([, value]) => value), height - bottom, top)
  const grid = up.ticks.map((tick) =>
    `<path d="M${left} ${up.at(tick)}H${width - 20}" stroke="#ddd"/><text x="${left - 6}" y="${up.at(tick) + 4}" text-anchor="end">${short(tick)}</text>`)
  const marks = across.ticks.map((tick) =>
    `<text x="${across.at(tick)}" y="${height - bottom + 18}" text-anchor="middle">${short(tick)}</text>`)
  const paths = lines.map(({ name, points }, index) => {
    const sound = points.filter((point) => point.every(Number.isFinite)).map(([x, y]) => `${across.at(x)},${up.at(y)}`)
    const colour = colours[index % colours.length]
    const dots = sound.map((point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${colour}"/>`)
    const legend = `<text x="${left + 10 + (index % 2) * 180}" y="${top - 6 + Math.floor(index / 2) * 14 + 4}" fill="${colour}">${name}</text>`
    return `<polyline points="${sound.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${legend}`
  })
  const words = `<text x="${left}" y="16" font-weight="bold">${title}</text><text x="${width / 2}" y="${height - 12}" text-anchor="middle">${x}</text>`
  return [words, ...grid, ...marks, ...paths].join('\n')
}

/** Logarithmic on both sides, between the powers of ten around the values. */
function scale (values: readonly number[], from: number, to: number) {
  const least = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  const most = Math.max(least + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))
  return {
    ticks: Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index)),
    at: (value: number) => Math.round(10 * (from + (to - from) * (Math.log10(value) - least) / (most - least))) / 10
  }
}

const short = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 2 })
