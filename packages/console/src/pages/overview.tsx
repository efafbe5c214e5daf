// The last day at a glance, and what to do first.
import { Card, Group, List as Bullets, SimpleGrid, Text } from '@mantine/core'
import { orThrow } from '@ringledger/client'
import { useQuery } from '@tanstack/react-query'
import { client, useRead, type Schemas } from '../api.js'
import { Chart, hourName, type Series } from '../blocks/chart.js'
import { countOf, type PageOf } from '../blocks/list.js'
import { Loaded, Page, Section } from '../blocks/page.js'
import { Said, Time, To } from '../blocks/text.js'
import { lists } from '../lists.js'

const overviewMs = 15_000

interface DayChart { of: keyof Schemas['OwnDay'], title: string, series: readonly Series[], seriesOf: (status: string) => number }

const charts: DayChart[] = [
  {
    of: 'calls',
    title: 'Calls of the last day',
    series: [{ name: 'Completed', colour: 'green' }, { name: 'Not reached', colour: 'orange' }, { name: 'Failed', colour: 'red' }],
    seriesOf: (status) => status === 'completed' ? 0 : status === 'failed' ? 2 : 1
  },
  {
    of: 'deliveries',
    title: 'Webhooks of the last day',
    series: [
      { name: 'Delivered', colour: 'green' }, { name: 'Waiting', colour: 'blue' },
      { name: 'Failed or held', colour: 'red' }, { name: 'Not sent', colour: 'grey' }
    ],
    seriesOf: (status) => ({ delivered: 0, scheduled: 1, held: 2, exhausted: 2 })[status] ?? 3
  }
]

export function Overview () {
  const day = useRead(['day'], () => client.GET('/user/day'), { pollMs: overviewMs })
  return (
    <Page title='Overview'>
      <ToDo />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {charts.map((chart) => (
          <Card key={chart.of} withBorder mih={320}>
            <Section title={chart.title}>
              <Loaded query={day}>{({ data }) => <Day chart={chart} day={data[chart.of]} />}</Loaded>
            </Section>
          </Card>
        ))}
      </SimpleGrid>
      <News />
    </Page>
  )
}

function Day ({ chart: { title, series, seriesOf }, day: { hours, is_exact: isExact } }: { chart: DayChart, day: Schemas['HoursOfDay'] }) {
  const bars = hours.map(({ hour, counts }) => {
    const amounts = series.map((_, index) =>
      Object.entries(counts).reduce((sum, [status, count]) => seriesOf(status) === index ? sum + count : sum, 0))
    return { name: hourName(hour), amounts }
  })
  return (
    <>
      <Chart title={title} series={series} bars={bars} />
      {!isExact && <Text size='sm' className='dim'>There are more than 100,000: the newest are counted.</Text>}
    </>
  )
}

/** Older ones have ended one way or another. */
const days = 7
const dayMs = 86_400_000

const counts = [
  { status: 'exhausted', words: 'failed for good. Find out why, and send again what is still needed.' },
  { status: 'held', words: 'held back. Look at the assistant.' },
  { status: 'scheduled', words: 'waiting to be sent or tried again.' }
] as const

const beginnings = [
  { ask: lists.assistants, to: '/assistants/new', words: 'Create your first assistant: it takes calls, or makes them.' },
  { ask: lists.leads, to: '/leads/import', words: 'Import the people to call from a file.' }
]

interface Step { to: string, words: string }

/** One list after the other: the API reads three of a user at a time. */
async function steps (): Promise<Step[]> {
  const found: Step[] = []
  for (const { ask, ...step } of beginnings) {
    const { data } = orThrow<PageOf<unknown>>(await ask({ per_page: 1, after: '' }))
    if (data.length === 0) found.push(step)
  }
  for (const { status, words } of counts) {
    const date_from = new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)
    const { meta } = orThrow(await lists.deliveries({ status, date_from, per_page: 1 }))
    const to = `/webhooks?status=${status}&date_from=${date_from}`
    if (meta.total) found.push({ to, words: `Webhooks of the last ${days} days: ${countOf(meta)} ${words}` })
  }
  return found
}

function ToDo () {
  const query = useQuery({ queryKey: ['steps'], queryFn: steps, refetchInterval: overviewMs })
  return (
    <Card withBorder mih={120}>
      <Section title='What to do first'>
        <Loaded query={query} rows={2}>
          {(found) => found.length === 0
            ? <Text>Nothing: no webhook of the last {days} days waits or has failed.</Text>
            : (
              <Bullets spacing='xs'>
                {found.map(({ to, words }) => <Bullets.Item key={to}><To to={to}>{words}</To></Bullets.Item>)}
              </Bullets>
              )}
        </Loaded>
      </Section>
    </Card>
  )
}

const noticeWords: Record<Schemas['NoticeType'], string> = {
  endpoint_failing: 'Three webhooks in a row failed',
  endpoint_recovered: 'Webhooks arrive again',
  endpoint_suspended: 'Webhooks are suspended until you resume them',
  delivery_exhausted: 'A webhook failed for good'
}

function News () {
  const notices = useRead(['notices'], () => lists.notices({ per_page: 5 }), { pollMs: overviewMs })
  return (
    <Section title='News of your webhooks'>
      <Loaded query={notices}>
        {({ data }) => data.length === 0
          ? <Text>Nothing has happened that you need to know.</Text>
          : (
            <Bullets spacing='xs'>
              {data.map(({ id, type, at, assistant_id: assistant, delivery_id: delivery }) => (
                <Bullets.Item key={id}>
                  <Group gap='xs'>
                    <Said>{noticeWords[type]}</Said>
                    {assistant !== null && <To to={`/assistants/${assistant}`}>Assistant {assistant}</To>}
                    {delivery !== null && <To to={`/webhooks/${delivery}`}>Webhook</To>}
                    <Time at={at} />
                  </Group>
                </Bullets.Item>
              ))}
            </Bullets>
            )}
      </Loaded>
    </Section>
  )
}
