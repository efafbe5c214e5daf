import { useSearchParams } from 'react-router'
import { client, type Schemas } from '../api.js'
import { Download } from '../blocks/download.js'
import { List, type Column } from '../blocks/list.js'
import { Page } from '../blocks/page.js'
import { Said, State, Time, To } from '../blocks/text.js'
import { lists, named, useAssistantOptions, useCampaignOptions } from '../lists.js'

export const callColumns: Column<Schemas['CallSummary']>[] = [
  { name: 'Ended', show: ({ call_id, ended_at }) => <To to={`/calls/${call_id}`}><Time at={ended_at} /></To> },
  { name: 'Status', show: ({ status }) => <State>{status}</State> },
  { name: 'Direction', show: ({ direction }) => direction === 'inbound' ? 'From the customer' : 'To the customer' },
  { name: 'From', show: ({ from, erased }) => erased ? 'Erased' : <Said>{from}</Said> },
  { name: 'To', show: ({ to, erased }) => erased ? 'Erased' : <Said>{to}</Said> },
  { name: 'Length', show: ({ duration }) => `${Math.round(duration)} s` }
]

const statuses = ['completed', 'failed', 'no-answer', 'busy', 'voicemail', 'canceled']

export function Calls () {
  const assistants = useAssistantOptions()
  const campaigns = useCampaignOptions()
  const [address] = useSearchParams()
  const { after, ...filters } = Object.fromEntries(address)
  return (
    <Page
      title='Calls'
      actions={
        <Download
          label='Export these' file='calls.csv'
          ask={() => client.GET('/user/calls/export', { params: { query: { ...filters, format: 'csv', bom: true } }, parseAs: 'blob' })}
        />
      }
    >
      <List
        name='calls'
        ask={lists.calls}
        idOf={({ call_id }) => call_id}
        filters={[
          { field: 'search', label: 'Search' },
          { field: 'phone_number', label: 'Number begins with' },
          { field: 'status', label: 'Status', options: named(statuses) },
          { field: 'direction', label: 'Direction', options: [{ value: 'inbound', label: 'From the customer' }, { value: 'outbound', label: 'To the customer' }] },
          { field: 'assistant_id', label: 'Assistant', options: assistants },
          { field: 'campaign_id', label: 'Campaign', options: campaigns },
          { field: 'date_from', label: 'From (UTC)', type: 'date' },
          { field: 'date_to', label: 'Until (UTC)', type: 'date' }
        ]}
        columns={callColumns}
        empty='No call yet. Calls appear here when your call engine reports them.'
      />
    </Page>
  )
}
