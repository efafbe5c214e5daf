// One projection: its generations, what can be done to it, what runs, and what it has parked.
import { Alert, Progress, SimpleGrid, Stack, Text } from '@mantine/core'
import { useParams } from 'react-router'
import { client, useAction, useRead, type Schemas } from '../../api.js'
import { Confirm } from '../../blocks/confirm.js'
import { Rows } from '../../blocks/list.js'
import { Facts, Loaded, Page, Section } from '../../blocks/page.js'
import { Dim, plain, Said, State, Time, To, withButtons } from '../../blocks/text.js'
import { ParkedStreams } from './parked.js'
import { Actions, lagOf, stateColours, useProjections } from './projections.js'

type Name = Schemas['ProjectionActionName']
type Input = Schemas['ProjectionActionInput']

/** What each will do, said before it is done. */
const words: Record<Name, string> = {
  replay: 'All rows are built anew from the log, beside those that readers see, and compared with them. If they are the same, readers ' +
    'are led to the new ones. It takes as much disk again, and some time; readers notice nothing.',
  verify: 'All rows are built anew from the log, compared with those that readers see, and dropped. It takes the time and the disk of a replay, and changes nothing.',
  rollback: 'Readers are led back to the former generation, as soon as it is level with the log. To go back to the present one, do it again.',
  drop: 'The tables of the generations that readers no longer see are dropped. There is no way back to them but a replay.',
  pause: 'Nobody feeds it until it is resumed. Readers see what they saw, answers of writes say that reads are behind, and lists grow stale.',
  resume: 'It is fed again, from where it stands.'
}

export function Projection () {
  const { name = '' } = useParams()
  const query = useProjections()
  return (
    <Page title={`Projection ${name}`}>
      <Loaded query={query} rows={10}>
        {({ data }) => {
          const found = data.find((each) => each.name === name)
          return found ? <Details projection={found} /> : <Text>There is no projection {name}. Go to <To to='/projections'>all of them</To>.</Text>
        }}
      </Loaded>
    </Page>
  )
}

function Details ({ projection }: { projection: Schemas['Projection'] }) {
  const { name, state, position, rate, problem, generations, action } = projection
  const parked = useRead(['parked'], () => client.GET('/ops/api/parked'))
  const actions = useRead(['actions'], () => client.GET('/ops/api/actions'))
  return (
    <>
      {problem !== null && <Stopped name={name} problem={problem} />}
      <Facts
        facts={{
          State: <State colour={stateColours[state]}>{state}</State>,
          Behind: lagOf(projection),
          Position: position,
          'Events a second': rate.toFixed(1)
        }}
      />
      {generations.length > 0 && (
        <>
          <Section title='What can be done'>
            <Now action={action} />
            <Offers projection={projection} />
          </Section>
          <Section title='Generations'><Generations generations={generations} isBusy={action !== null} /></Section>
        </>
      )}
      <Section title='Parked events'>
        <Loaded query={parked}>
          {({ data }) => <ParkedStreams streams={data.filter((each) => each.projection === name)} />}
        </Loaded>
      </Section>
      <Section title='What was done'>
        <Loaded query={actions}>
          {({ data }) => <Actions actions={data.filter((each) => each.projection === name)} />}
        </Loaded>
      </Section>
    </>
  )
}

/** As high whether something runs or not: what stands below is never moved under a finger. */
function Now ({ action }: Pick<Schemas['Projection'], 'action'>) {
  if (action === null) return <div className='now' role='status'>Nothing runs on it now.</div>
  const { action: name, progress, message } = action
  return (
    <div className='now' role='status'>
      <Text lineClamp={2}>A {name} runs. <Said>{withButtons(message) || 'It begins.'}</Said></Text>
      <Progress value={(progress ?? 0) * 100} striped={progress === null} animated={progress === null} aria-label={`How far the ${name} is`} />
    </div>
  )
}

function Stopped ({ name, problem }: { name: string, problem: string }) {
  const close = useAction(() => client.POST('/ops/api/projections/{name}/close-breaker', { params: { path: { name } } }))
  return (
    <Alert color='red' variant='outline' title='It stands still'>
      <Stack gap='xs' align='start'>
        <Said>{plain(problem)}</Said>
        <Confirm
          label='Let it go on' act={() => close.mutateAsync(undefined)}
          words='It goes on within seconds, and parks the events that it refuses, with the later events of their streams.'
        />
      </Stack>
    </Alert>
  )
}

function useBegin (name: string, action: Name) {
  return useAction((body: Input) =>
    client.POST('/ops/api/projections/{name}/{action}', { params: { path: { name, action } }, body }), {
    said: `The ${action} of ${name} has begun`
  })
}

/** What can succeed is offered; of the rest is said why not. While something runs, all wait where they are. */
function Offers ({ projection: { name, offers, action: running } }: { projection: Schemas['Projection'] }) {
  const isBusy = running !== null
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
      {offers.map(({ action, why_not: whyNot }) => (
        <div key={action} className='offer'>
          {isBusy || whyNot === null
            ? <Offer name={name} action={action} isBusy={isBusy} />
            : <><Text fw={500}>{plain(action)}</Text><Dim><Said>{withButtons(whyNot)}</Said></Dim></>}
        </div>
      ))}
    </SimpleGrid>
  )
}

function Offer ({ name, action, isBusy }: { name: string, action: Name, isBusy: boolean }) {
  const begin = useBegin(name, action)
  return (
    <Stack gap={4} align='start'>
      <Confirm
        label={`${plain(action)} ${name}`} words={words[action]} isDangerous={action === 'drop'} disabled={isBusy}
        act={() => begin.mutateAsync({})}
      />
      {action === 'replay' && (
        <Confirm
          label='Replay, and swap though rows differ' size='xs' isDangerous typed={name} disabled={isBusy}
          words='For when those are wrong that readers see, as after a change by hand. Readers are led to the new rows, whatever the comparison finds.'
          act={() => begin.mutateAsync({ accept_differences: true })}
        />
      )}
    </Stack>
  )
}

function Generations ({ generations, isBusy }: { generations: readonly Schemas['ProjectionGeneration'][], isBusy: boolean }) {
  return (
    <Rows
      items={generations}
      idOf={({ generation }) => generation}
      columns={[
        { name: 'Generation', show: ({ generation }) => generation },
        { name: 'State', show: ({ state, complete }) => <State colour={state === 'active' ? 'green' : 'grey'}>{complete ? state : `${state}, not filled yet`}</State> },
        { name: 'Code', show: ({ code_version: code, present_version: present }) => code === present ? code : `${code} (this is ${present})` },
        { name: 'Behind', show: ({ behind }) => behind === '0' ? 'level' : `${behind} positions` },
        { name: 'Changed', show: ({ updated_at }) => updated_at === 'never' ? 'never' : <Time at={updated_at} /> },
        { name: 'Fed by', show: ({ owner }) => <Said>{owner ?? 'nobody'}</Said> },
        { name: 'What to do', show: (each) => canDrop(each) ? <DropOne generation={each} isBusy={isBusy} /> : '–' }
      ]}
    />
  )
}

const canDrop = ({ state, owner }: Schemas['ProjectionGeneration']) => state !== 'active' && !(state === 'building' && owner !== null)

function DropOne (
  { generation: { projection, generation, state }, isBusy }: { generation: Schemas['ProjectionGeneration'], isBusy: boolean }
) {
  const begin = useBegin(projection, 'drop')
  return (
    <Confirm
      label={`Drop ${generation}`} size='xs' isDangerous disabled={isBusy} act={() => begin.mutateAsync({ generation })}
      words={state === 'retained'
        ? `The tables of generation ${generation} are dropped. There is no way back to it but a replay.`
        : `Generation ${generation}, which is ${state}, is given up: its tables are dropped, and a replay begins anew.`}
    />
  )
}
