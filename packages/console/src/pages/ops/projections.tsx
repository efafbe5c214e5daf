// Projections: how far each is, and what was done to them.
import { client, useRead, type Schemas } from '../../api.js'
import { Rows } from '../../blocks/list.js'
import { Loaded, Page, Section } from '../../blocks/page.js'
import { Said, State, Time, To, withButtons } from '../../blocks/text.js'

export const stateColours = { running: 'green', paused: 'orange', filling: 'orange', stopped: 'red' } as const
const actionColours = { running: 'blue', done: 'green', failed: 'red' } as const
const actionsMs = 2_000

/** Read often: an action that runs tells each second how far it is. */
export const useProjections = () => useRead(['projections'], () => client.GET('/ops/api/projections'), { pollMs: 2_000 })

export function lagOf ({ lag_events: events, lag_is_exact: isExact, lag_seconds: seconds }: Schemas['Projection']): string {
  if (events === 0) return 'level with the log'
  return `${isExact ? '' : 'more than '}${events.toLocaleString()} event${events === 1 ? '' : 's'}, ${seconds.toFixed(1)} s`
}

const percent = ({ progress }: Schemas['ProjectionAction']) => progress === null ? '' : ` ${Math.floor(progress * 100)} %`

export function Projections () {
  const query = useProjections()
  const actions = useRead(['actions'], () => client.GET('/ops/api/actions'), { pollMs: actionsMs })
  return (
    <Page title='Projections'>
      <Loaded query={query}>
        {({ data }) => (
          <Rows
            items={data}
            idOf={({ name }) => name}
            columns={[
              { name: 'Name', show: ({ name }) => <To to={`/projections/${name}`}>{name}</To> },
              { name: 'State', show: ({ state }) => <State colour={stateColours[state]}>{state}</State> },
              { name: 'Runs now', show: ({ action }) => action === null ? '–' : `${action.action}${percent(action)}` },
              { name: 'Behind', show: lagOf },
              { name: 'Events a second', show: ({ rate }) => rate.toFixed(1) },
              { name: 'Generation', show: generationOf },
              { name: 'Parked streams', show: ({ parked_streams: parked }) => parked === 0 ? 0 : <To to='/parked'>{parked}</To> }
            ]}
          />
        )}
      </Loaded>
      {query.isFetched && ( // else the rows would push it down
        <Section title='What was done'>
          <Loaded query={actions}>{({ data }) => <Actions actions={data} />}</Loaded>
        </Section>
      )}
    </Page>
  )
}

function generationOf ({ generations }: Schemas['Projection']): string {
  const active = generations.find(({ state }) => state === 'active')
  return active === undefined ? '–' : `${active.generation}${generations.length > 1 ? ` of ${generations.length}` : ''}`
}

export function Actions ({ actions }: { actions: readonly Schemas['ProjectionAction'][] }) {
  if (actions.length === 0) return <div className='empty'>Nothing within 90 days.</div>
  return (
    <Rows
      items={actions}
      idOf={({ id }) => id}
      columns={[
        { name: 'Started', show: ({ began_at }) => <Time at={began_at} /> },
        { name: 'Projection', show: ({ projection }) => <To to={`/projections/${projection}`}>{projection}</To> },
        { name: 'Action', show: ({ action }) => action },
        { name: 'State', show: (each) => <State colour={actionColours[each.state]}>{`${each.state}${each.state === 'running' ? percent(each) : ''}`}</State> },
        { name: 'What became of it', show: ({ message }) => <Said>{withButtons(message) || '–'}</Said> }
      ]}
    />
  )
}
