// Deliveries of all users.
import { client } from '../../api.js'
import { List } from '../../blocks/list.js'
import { Page } from '../../blocks/page.js'
import { Said, State, Time, To } from '../../blocks/text.js'
import { labelled, named } from '../../lists.js'
import { deliveryStatuses, outcomes, reasons, standing } from '../webhook-words.js'

export function Deliveries () {
  return (
    <Page title='Deliveries'>
      <List
        name='deliveries of all'
        ask={(query: object) => client.GET('/ops/api/deliveries', { params: { query } })}
        idOf={({ id }) => id}
        filters={[
          { field: 'user_id', label: 'User' },
          { field: 'url', label: 'URL begins with' },
          { field: 'assistant_id', label: 'Assistant' },
          { field: 'call_id', label: 'Call' },
          { field: 'status', label: 'Status', options: named(deliveryStatuses) },
          { field: 'outcome', label: 'Last attempt', options: labelled(outcomes) },
          { field: 'status_code', label: 'Answer (HTTP status)' },
          { field: 'reason', label: 'Reason', options: named(Object.keys(reasons)) },
          { field: 'date_from', label: 'From (UTC)', type: 'date' },
          { field: 'date_to', label: 'Until (UTC)', type: 'date' }
        ]}
        columns={[
          { name: 'Created', show: ({ id, created_at }) => <To to={`/deliveries/${id}`}><Time at={created_at} /></To> },
          { name: 'User', show: ({ user_id }) => <Said>{user_id ?? '–'}</Said> },
          { name: 'Status', show: ({ status }) => <State>{status}</State> },
          { name: 'What next', show: standing },
          { name: 'URL', show: ({ url }) => <Said>{url ?? '–'}</Said> },
          { name: 'Last error', show: ({ last_error }) => <Said>{last_error ?? '–'}</Said> },
          { name: 'Call', show: ({ call_id }) => <Said>{call_id ?? 'Test'}</Said> }
        ]}
        empty='No call has ended yet.'
      />
    </Page>
  )
}
