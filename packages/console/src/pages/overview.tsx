// The last day at a glance, and what to do first.
import { Card, Group, List as Bullets, SimpleGrid, Text } from '@mantine/core'
import { orThrow, type Answered } from '@ringledger/client'
import { useQuery } from '@tanstack/react-query'
import { useRead, type Schemas } from '../api.js'
import { Chart, type Series } from '../blocks/chart.js'
import type { PageOf } from '../blocks/list.js'
import { Loaded, Page, Section } from '../blocks/page.js'
import { Said, Time, To } from '../blocks/text.js'
import { lists, upTo } from '../lists.js'

const hourMs = 3_600_000
const hours = 24
/** Of each list. Who has more in a day sees the newest of them. */
const mostRead = 500
const overviewMs = 15_000

const callSeries: Series[] = [{ name: 'Completed', colour: 'green' }, { name: 'Not reached', colour: 'orange' }, { name: 'Failed', colour: 'red' }]
const seriesOfCall = (status: Schemas['CallStatus']) => status === 'completed' ? 0 : status === 'failed' ? 2 : 1

const deliverySeries: Series[] = [
  { name: 'Delivered', colour: 'green' }, { name: 'Waiting', colour: 'blue' }, { name: 'Failed or held', colour: 'red' }, { name: 'Not sent', colour: 'grey' }
]
const seriesOfDelivery: Record<Schemas['DeliveryStatus'], number> = {
  delivered: 0, scheduled: 1, held: 2, exhausted: 2, cancelled: 3, skipped: 3
}

/** The beginning of the first hour that is shown. */
const since = () => new Date(Math.floor(Date.now() / hourMs) * hourMs - (hours - 1) * hourMs)

const hourName = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })

function barsOf<Item> (
  items: readonly Item[], count: number, at: (item: Item) => string, series: (item: Item) => number
) {
  const from = since().getTime()
  const bars = Array.from({ length: hours }, (_, hour) =>
    ({ name: hourName.format(from + hour * hourMs), amounts: Array.from({ length: count }, () => 0) }))
  for (const item of items) {
    const bar = bars[Math.floor((Date.parse(at(item)) - from) / hourMs)]
    const index = series(item)
    if (bar) bar.amounts[index] = (bar.amounts[index] ?? 0) + 1
  }
  return bars
}

export function Overview () {
  return (
    <Page title='Overview'>
      <ToDo />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Day
          name='calls' title='Calls of the last day' ask={lists.calls} series={callSeries}
          at={({ ended_at }) => ended_at} seriesOf={({ status }) => seriesOfCall(status)}
        />
        <Day
          name='deliveries' title='Webhooks of the last day' ask={lists.deliveries} series={deliverySeries}
          at={({ created_at }) => created_at} seriesOf={({ status }) => seriesOfDelivery[status]}
        />
      </SimpleGrid>
      <News />
    </Page>
  )
}

interface DayProps<Item> {
  name: string
  title: string
  ask: (query: object) => Promise<Answered<PageOf<Item>>>
  series: readonly Series[]
  at: (item: Item) => string
  seriesOf: (item: Item) => number
}

function Day<Item> ({ name, title, ask, series, at, seriesOf }: DayProps<Item>) {
  const query = useQuery({
    queryKey: [name, 'day'],
    queryFn: () => upTo(mostRead, ask, { date_from: since().toISOString() }),
    refetchInterval: overviewMs
  })
  return (
    <Card withBorder mih={280}>
      <Section title={title}>
        <Loaded query={query}>
          {(found) => (
            <>
              <Chart title={title} series={series} bars={barsOf(found, series.length, at, seriesOf)} />
              {found.length >= mostRead && <Text size='sm' className='dim'>Of the newest {mostRead} only.</Text>}
            </>
          )}
        </Loaded>
      </Section>
    </Card>
  )
}

const counts = [
  { status: 'exhausted', words: 'webhooks failed for good. Find out why, and send them again.' },
  { status: 'held', words: 'webhooks are held back. Look at the assistant that they belong to.' },
  { status: 'scheduled', words: 'webhooks wait to be sent or tried again.' }
] as const

const beginnings = [
  { list: 'assistants', ask: lists.assistants, to: '/assistants/new', words: 'Create your first assistant: it takes calls, or makes them.' },
  { list: 'leads', ask: lists.leads, to: '/leads/import', words: 'Import the people to call from a file.' }
]

function ToDo () {
  const queue = useQuery({
    queryKey: ['deliveries', 'counts'],
    queryFn: () => Promise.all(counts.map(async ({ status }) =>
      orThrow(await lists.deliveries({ status, per_page: 1 })).meta.total ?? 0)),
    refetchInterval: overviewMs
  })
  const empty = useQuery({
    queryKey: ['beginnings'],
    queryFn: async () => {
      const found = await Promise.all(beginnings.map(({ ask }) => upTo<unknown>(1, ask)))
      return beginnings.filter((_, index) => found[index]?.length === 0)
    },
    refetchInterval: overviewMs
  })
  return (
    <Card withBorder mih={120}>
      <Section title='What to do first'>
        <Loaded query={queue} rows={2}>
          {(totals) => {
            const waiting = counts.map((each, index) => ({ ...each, count: totals[index] ?? 0 }))
              .filter(({ count }) => count > 0)
            const missing = empty.data ?? []
            if (waiting.length + missing.length === 0) return <Text>Nothing: every webhook has arrived.</Text>
            return (
              <Bullets spacing='xs'>
                {missing.map(({ list, to, words }) => <Bullets.Item key={list}><To to={to}>{words}</To></Bullets.Item>)}
                {waiting.map(({ status, words, count }) => (
                  <Bullets.Item key={status}><To to={`/webhooks?status=${status}`}>{count} {words}</To></Bullets.Item>
                ))}
              </Bullets>
            )
          }}
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
