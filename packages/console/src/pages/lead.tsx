// One lead, a new one, and the calls with a lead.
import { Card, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { client, tagged, useAction, useRead, type Schemas, type Tagged } from '../api.js'
import { Changing } from '../blocks/changing.js'
import { Confirm } from '../blocks/confirm.js'
import { Rows } from '../blocks/list.js'
import { Facts, Loaded, Page, Section } from '../blocks/page.js'
import { Said, State, Time } from '../blocks/text.js'
import { VariableFacts } from '../blocks/variables.js'
import { lists } from '../lists.js'
import { callColumns } from './calls.js'
import { LeadForm } from './lead-form.js'

export function NewLead () {
  const navigate = useNavigate()
  return (
    <Page title='New lead'>
      <LeadForm
        button='Create lead'
        save={(body) => client.POST('/user/lead', { body: body as Schemas['LeadInput'] })}
        saved={({ data }) => void navigate(`/leads/${data.id}`)}
      />
    </Page>
  )
}

export function Lead () {
  const { id: given } = useParams()
  const id = Number(given)
  const path = { id }
  const navigate = useNavigate()
  const query = useRead(['leads', id], () => tagged(() => client.GET('/user/lead/{id}', { params: { path } })))
  const calls = useRead(['calls', 'of lead', id], () => lists.calls({ lead_id: id, per_page: 25 }))
  const remove = useAction(() => client.DELETE('/user/lead/{id}', { params: { path } }), { then: () => void navigate('/leads') })
  const lead = query.data?.data
  return (
    <Page
      title={lead ? lead.phone_number : `Lead ${given}`}
      actions={
        <Confirm
          label='Delete' isDangerous disabled={!lead} act={() => remove.mutateAsync(undefined)}
          words='The lead and its other contacts are deleted. The number may be added to the campaign again.'
        />
      }
    >
      <Loaded query={query}>{(found) => <Details key={found.data.id} found={found} />}</Loaded>
      {lead && (
        <Section title='Calls'>
          <Loaded query={calls} rows={2}>
            {({ data }) => data.length === 0
              ? <Text>There was no call yet.</Text>
              : <Rows items={data} columns={callColumns} idOf={({ call_id }) => call_id} />}
          </Loaded>
        </Section>
      )}
    </Page>
  )
}

type Found = Tagged<Schemas['FoundLead']>
const formOf = ({ data: { status, variables, secondary_contacts: others } }: Found) => ({ status, variables, others })

function Details ({ found }: { found: Found }) {
  const [isChanging, setChanging] = useState(false)
  const { id, variables, status, campaign, created_at, updated_at, secondary_contacts: contacts } = found.data
  return (
    <>
      <Facts
        facts={{
          Status: <State>{status}</State>,
          Campaign: <Said>{campaign.name}</Said>,
          Created: <Time at={created_at} />,
          'Last change': <Time at={updated_at} />
        }}
      />
      <Section title='Variables'><VariableFacts values={variables} /></Section>
      {contacts.length > 0 && (
        <Section title='Other contacts'>
          <Stack gap='sm'>
            {contacts.map((contact) => (
              <Card key={contact.id} withBorder>
                <Stack gap='sm'>
                  <Facts facts={{ Number: contact.phone_number, Status: <State>{contact.status}</State> }} />
                  <VariableFacts values={contact.variables} />
                </Stack>
              </Card>
            ))}
          </Stack>
        </Section>
      )}
      <details open={isChanging} onToggle={({ currentTarget }) => setChanging(currentTarget.open)}>
        <summary>Change this lead</summary>
        {isChanging && ( // begins with the lead as it is when it is opened
          <Changing found={found} tagOf={({ tag }) => tag} contentOf={formOf}>
            {({ data: lead, tag }) => (
              <LeadForm
                lead={lead} button='Save changes' saved={() => setChanging(false)}
                save={(body) => client.PUT('/user/lead/{id}', { params: { path: { id }, header: { 'If-Match': tag } }, body })}
              />
            )}
          </Changing>
        )}
      </details>
    </>
  )
}
