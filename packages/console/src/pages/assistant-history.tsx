// Every change of an assistant, and the way back.
import { Stack } from '@mantine/core'
import { client, type Schemas } from '../api.js'
import { FormDialog } from '../blocks/form-dialog.js'
import type { Field } from '../blocks/form.js'
import { List } from '../blocks/list.js'
import { Said, Time, timeText } from '../blocks/text.js'
import { textOf } from '../blocks/variables.js'
import { lists } from '../lists.js'
import { AssistantPage } from './assistant.js'
import { sections } from './assistant-fields.js'

const events: Record<Schemas['AssistantEventType'], string> = {
  AssistantCreated: 'Created',
  AssistantUpdated: 'Changed',
  AssistantActivated: 'Switched on',
  AssistantDeactivated: 'Switched off',
  AssistantDeleted: 'Deleted'
}
const labels = new Map(sections.flatMap(({ fields }) => fields).map(({ name, label }) => [name.split('.', 1)[0], label]))

const fields: Field[] = [{
  name: 'without_phone_number', label: 'Without its phone number', kind: 'switch', hint: 'For a number that is no longer yours.'
}]

export const AssistantHistory = () => <AssistantPage>{(assistant) => <History {...assistant} />}</AssistantPage>

function History ({ id, revision: present }: Schemas['Assistant']) {
  return (
    <List
      name={`assistants/${id}/history`}
      ask={(query) => lists.history(id, query)}
      idOf={({ revision }) => revision}
      columns={[
        { name: 'When', show: ({ at }) => <Time at={at} /> },
        { name: 'What', show: ({ event }) => events[event] },
        { name: 'Changes', show: ({ changes, event }) => <Changes changes={changes} isNew={event === 'AssistantCreated'} /> },
        {
          name: 'Go back',
          show: ({ revision, at }) => revision === present
            ? 'As it is now'
            : <FormDialog
                label='Restore' of={`what was set on ${timeText(at)}`} fields={fields}
                words='All settings become what they were after this change. It is one more change: you can go back again.'
                save={(body: { without_phone_number: boolean }) => client.POST('/user/assistant/{id}/restore', {
                  params: { path: { id } }, body: { revision, ...body }
                })}
              />
        }
      ]}
      empty='Nothing has happened yet.'
    />
  )
}

function Changes ({ changes, isNew }: { changes: Schemas['FieldChange'][], isNew: boolean }) {
  const shown = (
    <Stack gap='xs'>
      {changes.map(({ field, from, to }) => (
        <div key={field}>
          <b>{labels.get(field) ?? field}</b>
          {!isNew && <del><Said>{textOf(from)}</Said></del>}
          <ins><Said>{textOf(to)}</Said></ins>
        </div>
      ))}
    </Stack>
  )
  return isNew ? <details><summary>{changes.length} settings</summary>{shown}</details> : shown
}
