// Webhooks: what became of each, and how several are sent again.
import { client, useAction, type Schemas } from '../api.js'
import { Confirm } from '../blocks/confirm.js'
import { List, type Column } from '../blocks/list.js'
import { Page } from '../blocks/page.js'
import { Secret } from '../blocks/secret.js'
import { Said, State, Time, To } from '../blocks/text.js'
import { labelled, lists, named, useAssistantOptions } from '../lists.js'
import { deliveryStatuses, outcomes, standing } from './webhook-words.js'

export const deliveryColumns: Column<Schemas['DeliverySummary']>[] = [
  { name: 'Created', show: ({ id, created_at }) => <To to={`/webhooks/${id}`}><Time at={created_at} /></To> },
  { name: 'Status', show: ({ status }) => <State>{status}</State> },
  { name: 'What next', show: standing },
  { name: 'URL', show: ({ url }) => <Said>{url ?? '–'}</Said> },
  { name: 'Last error', show: ({ last_error }) => <Said>{last_error ?? '–'}</Said> }
]

const callColumn: Column<Schemas['DeliverySummary']> = {
  name: 'Call', show: ({ call_id }) => call_id === null ? 'Test' : <To to={`/calls/${call_id}`}>{call_id}</To>
}

export function Deliveries () {
  const assistants = useAssistantOptions()
  const again = useAction((ids: string[]) => client.POST('/user/webhook-deliveries/redeliver', { body: { ids } }), {
    said: ({ data: { count } }) => count === 1 ? '1 webhook is sent again' : `${count} webhooks are sent again`
  })
  return (
    <Page title='Webhooks'>
      <details>
        <summary>The secret that signs your webhooks</summary>
        <Secret
          name='of the user' words={() => 'Receivers verify by it. Assistants may have one of their own.'}
          ask={() => client.GET('/user/webhook-secret')}
          rotate={(body) => client.POST('/user/webhook-secret/rotate', { body })}
        />
      </details>
      <List
        name='deliveries'
        ask={lists.deliveries}
        idOf={({ id }) => id}
        filters={[
          { field: 'status', label: 'Status', options: named(deliveryStatuses) },
          { field: 'outcome', label: 'Last attempt', options: labelled(outcomes) },
          { field: 'status_code', label: 'Answer (HTTP status)' },
          { field: 'assistant_id', label: 'Assistant', options: assistants },
          { field: 'call_id', label: 'Call' },
          { field: 'date_from', label: 'From (UTC)', type: 'date' },
          { field: 'date_to', label: 'Until (UTC)', type: 'date' }
        ]}
        columns={[...deliveryColumns, callColumn]}
        empty='No webhook yet. Give an assistant a webhook URL, switch its webhook on, and send a test.'
        bulk={{
          nameOf: ({ id, call_id: call }) => call === null ? `the test ${id}` : `the webhook of call ${call}`,
          actions: (ids, clear) => (
            <Confirm
              label={`Send ${ids.length} again`}
              words='Each is sent from the beginning of its schedule, to the webhook URL that its assistant has now. Those that have arrived are passed over.'
              act={async () => {
                await again.mutateAsync(ids)
                clear()
              }}
            />
          )
        }}
      />
    </Page>
  )
}
