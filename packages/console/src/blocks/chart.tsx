// Bars of a day, one for each hour: as high as there was much, in the colours of what it was.
import { Group, Text } from '@mantine/core'
import { Rows } from './list.js'

export interface Series { name: string, colour: 'green' | 'red' | 'blue' | 'orange' | 'grey' }

interface Bar { name: string, amounts: readonly number[] }

interface ChartProps {
  title: string
  /** The first series is the lowest part of each bar. */
  series: readonly Series[]
  /** One for each bar: a name, and how much of each series. */
  bars: readonly Bar[]
}

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
/** In the zone of the viewer. */
export const hourName = (at: string | number) => hour.format(new Date(at))

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

export function Chart ({ title, series, bars }: ChartProps) {
  const most = Math.max(1, ...bars.map(({ amounts }) => sum(amounts)))
  const totals = series.map(({ name }, index) => `${sum(bars.map(({ amounts }) => amounts[index] ?? 0))} ${name.toLowerCase()}`)
  const busy = bars.filter(({ amounts }) => sum(amounts) > 0)
  return (
    <>
      <figure className='chart'>
        <div role='img' aria-label={`${title}: ${totals.join(', ')}`} className='bars'>
          {bars.map(({ name, amounts }) => (
            <div key={name} title={`${name}: ${series.map((each, index) => `${amounts[index]} ${each.name.toLowerCase()}`).join(', ')}`}>
              {amounts.map((amount, index) => (
                <span key={index} data-colour={series[index]?.colour} style={{ height: `${100 * amount / most}%` }} />
              ))}
            </div>
          ))}
        </div>
        <Group justify='space-between' className='dim'>
          <Text size='xs'>{bars[0]?.name}</Text>
          <Text size='xs'>{bars.at(-1)?.name}</Text>
        </Group>
        <Group gap='md' component='figcaption'>
          {series.map(({ name, colour }, index) => (
            <Text key={name} size='sm' className='state' data-colour={colour}>{totals[index]}</Text>
          ))}
        </Group>
      </figure>
      {busy.length > 0 && (
        <details className='hours'>
          <summary>By the hour</summary>
          <Rows
            items={busy}
            idOf={({ name }) => name}
            columns={[
              { name: 'Hour', show: ({ name }) => name },
              ...series.map(({ name }, index) => ({ name, show: ({ amounts }: Bar) => amounts[index] }))
            ]}
          />
        </details>
      )}
    </>
  )
}
