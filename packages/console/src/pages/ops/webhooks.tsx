// Webhooks that fail, are suspended or pause.
import { client, useAction, useRead, type Schemas } from '../../api.js'
import { Confirm } from '../../blocks/confirm.js'
import { Rows } from '../../blocks/list.js'
import { Loaded, Page } from '../../blocks/page.js'
import { fromNow, Said, State, Time, To } from '../../blocks/text.js'
import { interruption } from '../webhook-words.js'

const colours = { suspended: 'red', failing: 'red', paused: 'orange' } as const

export function Webhooks () {
  const query = useRead(['troubled'], () => client.GET('/ops/api/webhooks'))
  return (
    <Page title='Failing webhooks'>
      <Loaded query={query}>
        {({ data }) => data.length === 0
          ? <div className='empty'>Every webhook is sent to, and none fails.</div>
          : (
            <Rows
              items={data}
              idOf={({ assistant_id }) => assistant_id}
              columns={[
                { name: 'URL', show: ({ url, assistant_id }) => <To to={`/deliveries?assistant_id=${assistant_id}`}>{url}</To> },
                { name: 'User', show: ({ user_id }) => <Said>{user_id}</Said> },
                { name: 'Assistant', show: ({ assistant_id }) => assistant_id },
                { name: 'State', show: ({ state }) => <State colour={colours[state]}>{state}</State> },
                { name: 'Since', show: Since },
                { name: 'Last error', show: ({ last_error, reason }) => <Said>{last_error ?? (reason === null ? '–' : interruption(reason))}</Said> },
                { name: 'Waiting', show: ({ waiting }) => waiting < 1_000 ? waiting : '1,000 or more' },
                { name: 'What to do', show: (webhook) => webhook.state === 'failing' ? '–' : <Resume webhook={webhook} /> }
              ]}
            />
            )}
      </Loaded>
    </Page>
  )
}

const Since = ({ since, until }: Schemas['TroubledWebhook']) =>
  until === null ? <Time at={since} /> : <>until <Time at={until} />, {fromNow(until)}</>

function Resume ({ webhook: { assistant_id: id, state, url } }: { webhook: Schemas['TroubledWebhook'] }) {
  const resume = useAction(() => client.POST('/ops/api/webhooks/{id}/resume', { params: { path: { id } } }))
  return (
    <Confirm
      label='Resume' size='xs' of={url} act={() => resume.mutateAsync(undefined)}
      words={state === 'suspended'
        ? 'What was held is sent, to the URL that the assistant has now. If it fails for five days more, it is suspended again.'
        : 'Its receiver asked for a pause. It ends now instead, and what waits is sent at once.'}
    />
  )
}
