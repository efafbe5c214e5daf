// How the service is: what to look at first, what waits to be sent, and the last day.
import { Card, List as Bullets, SimpleGrid, Text } from '@mantine/core'
import { client, useRead, type Schemas } from '../../api.js'
import { Chart, hourName, type Series } from '../../blocks/chart.js'
import { Facts, Loaded, Loading, Page, Section } from '../../blocks/page.js'
import { fromNow, inZone, Said, State, To } from '../../blocks/text.js'
import { levels, Mend } from './doctor.js'

const slowMs = 30_000
const hourMs = 3_600_000

const useChecks = () => useRead(['checks'], () => client.GET('/ops/api/checks'), { pollMs: slowMs })
const useQueue = () => useRead(['queue'], () => client.GET('/ops/api/queue'))
const useDay = () => useRead(['day'], () => client.GET('/ops/api/day'), { pollMs: slowMs })

/** Its parts come at once, so that none pushes another down. */
export function Overview () {
  const isReady = [useChecks(), useQueue(), useDay()].every(({ isFetched }) => isFetched)
  return (
    <Page title='Overview'>
      {isReady ? <><First /><Queue /><Day /></> : <Loading rows={12} />}
    </Page>
  )
}

function First () {
  const checks = useChecks()
  return (
    <Card withBorder mih={120}>
      <Section title='What to look at first'>
        <Loaded query={checks} rows={2}>
          {({ data }) => {
            const found = data.filter(({ level }) => level === 'error' || level === 'warning')
            if (found.length === 0) return <Text>Nothing: the doctor finds that all is well.</Text>
            return (
              <Bullets spacing='xs'>
                {found.map((finding) => (
                  <Bullets.Item key={`${finding.part} ${finding.check}`}>
                    <State colour={levels[finding.level]}>{finding.level}</State>{' '}
                    <Said>{finding.part}, {finding.check}: {inZone(finding.found)}.</Said> <Mend finding={finding} />
                  </Bullets.Item>
                ))}
              </Bullets>
            )
          }}
        </Loaded>
      </Section>
    </Card>
  )
}

function Queue () {
  const queue = useQueue()
  return (
    <Section title='Webhooks'>
      <Loaded query={queue} rows={2}>
        {({ data }) => (
          <Facts
            facts={{
              'Due, and waiting': data.due,
              'Under way': data.in_flight,
              'Waits longest': data.oldest_due === null ? 'none' : `since ${fromNow(data.oldest_due)}`,
              Held: data.held > 0 ? <To to='/deliveries?status=held'>{data.held}</To> : 0,
              Failing: data.failing_endpoints > 0 ? <To to='/webhooks'>{data.failing_endpoints}</To> : 0,
              Suspended: data.suspended_endpoints > 0 ? <To to='/webhooks'>{data.suspended_endpoints}</To> : 0,
              'Calls that are not accounted for': data.unaccounted ?? 'not counted yet'
            }}
          />
        )}
      </Loaded>
    </Section>
  )
}

const attemptSeries: Series[] = [{ name: 'Delivered', colour: 'green' }, { name: 'Failed', colour: 'red' }]
const commandSeries: Series[] =
  [{ name: 'Accepted', colour: 'green' }, { name: 'Refused', colour: 'orange' }, { name: 'Failed', colour: 'red' }]

function Day () {
  const day = useDay()
  return (
    <Loaded query={day} rows={8}>
      {({ data: { attempts, share, commands } }) => (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Card withBorder>
            <Section title='Attempts of the last day'>
              <Chart title='Attempts of the last day' series={attemptSeries} bars={attempts.map(barOfHour)} />
              {share < 1 && <Text size='sm' className='dim'>Estimated from a sample of {(share * 100).toPrecision(2)} %.</Text>}
              <Text size='sm' className='dim'>{latencyOf(attempts)}</Text>
            </Section>
          </Card>
          <Card withBorder>
            <Section title='Commands of the last day'>
              <Chart title='Commands of the last day' series={commandSeries} bars={barsOfCommands(commands)} />
            </Section>
          </Card>
        </SimpleGrid>
      )}
    </Loaded>
  )
}

function barOfHour ({ hour, attempts }: Schemas['HourOfAttempts']) {
  const delivered = attempts.delivered ?? 0
  const all = Object.values(attempts).reduce((sum, count) => sum + count, 0)
  return { name: hourName(hour), amounts: [delivered, all - delivered] }
}

/** Of the newest hour in which something was delivered. */
function latencyOf (hours: readonly Schemas['HourOfAttempts'][]): string {
  const newest = hours.findLast(({ latency }) => latency !== null)?.latency
  if (!newest) return ''
  const [half, most] = [newest.p50, newest.p99].map((seconds) => `${Number(seconds.toPrecision(2))} s`)
  return `From the end of a call to its delivery, in the newest hour: half within ${half}, 99 of 100 within ${most}.`
}

/** By the hour, as attempts are. Ten minutes without a command are not in the answer. */
function barsOfCommands (commands: readonly Schemas['CommandsOfTenMinutes'][]) {
  const first = Math.floor(Date.now() / hourMs) * hourMs - 23 * hourMs
  return Array.from({ length: 24 }, (_, hour) => {
    const from = first + hour * hourMs
    const within = commands.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < from + hourMs)
    const sum = (kind: 'accepted' | 'refused' | 'failed') => within.reduce((total, each) => total + each[kind], 0)
    return { name: hourName(from), amounts: [sum('accepted'), sum('refused'), sum('failed')] }
  })
}
