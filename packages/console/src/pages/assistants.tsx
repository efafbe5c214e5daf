import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { List } from '../blocks/list.js'
import { Page } from '../blocks/page.js'
import { Said, State, To } from '../blocks/text.js'
import { lists } from '../lists.js'

export function Assistants () {
  const create = <Button component={Link} to='/assistants/new'>New assistant</Button>
  return (
    <Page title='Assistants' actions={create}>
      <List
        name='assistants'
        ask={lists.assistants}
        idOf={({ id }) => id}
        filters={[
          { field: 'search', label: 'Search by name' },
          { field: 'status', label: 'Status', options: [{ value: 'active', label: 'Active' }, { value: 'inactive', label: 'Inactive' }] },
          { field: 'type', label: 'Calls', options: [{ value: 'inbound', label: 'Takes calls' }, { value: 'outbound', label: 'Makes calls' }] }
        ]}
        columns={[
          { name: 'Name', show: ({ id, name }) => <To to={`/assistants/${id}`}>{name}</To> },
          { name: 'Status', show: ({ status }) => <State>{status}</State> },
          { name: 'Calls', show: ({ type }) => type === 'inbound' ? 'Takes calls' : 'Makes calls' },
          { name: 'Engine', show: ({ mode }) => <Said>{mode}</Said> }
        ]}
        empty='There is no assistant yet. Create one: it takes calls, or makes them for a campaign.'
      />
    </Page>
  )
}
