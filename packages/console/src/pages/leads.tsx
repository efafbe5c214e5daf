import { Button } from '@mantine/core'
import { Link, useSearchParams } from 'react-router'
import { client } from '../api.js'
import { Download } from '../blocks/download.js'
import { List } from '../blocks/list.js'
import { Page } from '../blocks/page.js'
import { Said, State, Time, To } from '../blocks/text.js'
import { lists, named, useCampaignOptions } from '../lists.js'

export const leadStatuses = ['created', 'scheduled', 'processing', 'completed', 'rescheduled', 'reached-max-retries', 'blacklisted']

export function Leads () {
  const campaigns = useCampaignOptions()
  const [address] = useSearchParams()
  const { after, ...filters } = Object.fromEntries(address)
  return (
    <Page
      title='Leads'
      actions={
        <>
          <Button component={Link} to='/leads/new'>New lead</Button>
          <Button component={Link} to='/leads/import' variant='default'>Import a file</Button>
          <Download
            label='Export these' file='leads.csv'
            ask={() => client.GET('/user/leads/export', { params: { query: { ...filters, format: 'csv', bom: true } }, parseAs: 'blob' })}
          />
        </>
      }
    >
      <List
        name='leads'
        ask={lists.leads}
        idOf={({ id }) => id}
        filters={[
          { field: 'search', label: 'Search' },
          { field: 'phone_number', label: 'Number begins with' },
          { field: 'status', label: 'Status', options: named(leadStatuses) },
          { field: 'campaign_id', label: 'Campaign', options: campaigns },
          { field: 'date_from', label: 'Created from (UTC)', type: 'date' },
          { field: 'date_to', label: 'Until (UTC)', type: 'date' }
        ]}
        columns={[
          { name: 'Number', show: ({ id, phone_number }) => <To to={`/leads/${id}`}>{phone_number}</To> },
          { name: 'Name', show: ({ variables }) => <Said>{String(variables.customer_name) || '–'}</Said> },
          { name: 'Status', show: ({ status }) => <State>{status}</State> },
          { name: 'Campaign', show: ({ campaign }) => <Said>{campaign.name}</Said> },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> }
        ]}
        empty={<>There is nobody to call yet. <To to='/leads/import'>Import a file</To>, or <To to='/leads/new'>add one person</To>.</>}
      />
    </Page>
  )
}
