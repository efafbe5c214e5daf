// The form of a lead: a person to call, and others to call instead.
import { Button, Fieldset, Group, Stack } from '@mantine/core'
import type { Answered } from '@ringledger/client'
import type { Schemas } from '../api.js'
import { ApiForm, changesOf, given, Input, Inputs, shown, type Field, type Form, type Values } from '../blocks/form.js'
import { named, useCampaignOptions } from '../lists.js'
import { leadStatuses } from './leads.js'

const number: Field = { name: 'phone_number', label: 'Phone number', kind: 'tel', isRequired: true, hint: 'Such as +15551230100.' }
const variables: Field = {
  name: 'variables', label: 'Variables', kind: 'variables', hint: 'What the assistant knows of the person: customer_name, email and more.'
}
/** Only reports of calls say that one is processing. */
const statusOf = (lead: Schemas['FoundLead']): Field => ({
  name: 'status', label: 'Status', options: named(leadStatuses.filter((each) => each !== 'processing' || each === lead.status))
})
const again: Field = { name: 'allow_dupplicate', label: 'Also if the campaign has this number already', kind: 'switch' }

const person = { variables: { customer_name: '', email: '' } }
const contactFields = [number, variables]

interface LeadFormProps<Data> {
  lead?: Schemas['FoundLead']
  button: string
  save: (body: Values) => Promise<Answered<Data>>
  saved: (data: Data) => void
}

export function LeadForm<Data> ({ lead, button, save, saved }: LeadFormProps<Data>) {
  const campaigns = useCampaignOptions()
  const campaign: Field = { name: 'campaign_id', label: 'Campaign', kind: 'number', isRequired: true, options: campaigns }
  const fields = lead ? [statusOf(lead), variables] : [number, campaign, variables, again]
  const contacts = (lead?.secondary_contacts ?? [])
    .map((contact) => ({ id: contact.id, ...shown(contactFields, contact) }))
  const initial = { ...shown(fields, lead ?? person), secondary_contacts: contacts }
  const bodyOf = ({ secondary_contacts: rows, ...values }: Values) => ({
    ...given(fields, values),
    secondary_contacts: (rows as Values[]).map(({ id, ...row }) =>
      ({ ...(id !== undefined && { id }), ...given(contactFields, row) }))
  })
  return (
    <ApiForm
      initial={initial} button={button} saved={saved}
      save={(values) => save(lead ? changesOf(bodyOf(initial), bodyOf(values)) : bodyOf(values))}
    >
      {(form) => <><Inputs fields={fields} form={form} /><Contacts form={form} /></>}
    </ApiForm>
  )
}

const list = 'secondary_contacts'

function Contacts ({ form }: { form: Form }) {
  const contacts = form.getInputProps(list).value as Values[]
  return (
    <>
      {contacts.map((_, index) => (
        <Fieldset key={index} legend={`Other contact ${index + 1}`}>
          <Stack>
            {contactFields.map((field) => <Input key={field.name} field={field} form={form} at={`${list}.${index}.${field.name}`} />)}
            <Group><Button variant='default' size='xs' onClick={() => form.removeListItem(list, index)}>Remove contact {index + 1}</Button></Group>
          </Stack>
        </Fieldset>
      ))}
      <Group>
        <Button variant='default' onClick={() => form.insertListItem(list, shown(contactFields, person))}>Add another contact</Button>
      </Group>
    </>
  )
}
