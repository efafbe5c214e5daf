// Numbers that assistants are called on and call from, and numbers that must not be called.
import { client, useAction } from '../api.js'
import { Confirm } from '../blocks/confirm.js'
import { FormDialog } from '../blocks/form-dialog.js'
import type { Field } from '../blocks/form.js'
import { List } from '../blocks/list.js'
import { Page } from '../blocks/page.js'
import { Said, Time } from '../blocks/text.js'
import { lists } from '../lists.js'

const number: Field = { name: 'phone_number', label: 'Phone number', kind: 'tel', isRequired: true, hint: 'Such as +15551230100.' }
const search = { field: 'search', label: 'Number begins with' }
interface Numbered { phone_number: string, reason?: string }

export function Numbers () {
  const release = useAction((id: number) => client.DELETE('/user/phone-number/{id}', { params: { path: { id } } }))
  return (
    <Page
      title='Phone numbers'
      actions={
        <FormDialog
          label='Add a number' isMain fields={[number]}
          save={(body: Numbered) => client.POST('/user/phone-number', { body })}
        />
      }
    >
      <List
        name='numbers'
        ask={lists.numbers}
        idOf={({ id }) => id}
        filters={[search]}
        columns={[
          { name: 'Phone number', show: ({ phone_number }) => phone_number },
          {
            name: 'Change',
            show: ({ id, phone_number }) => (
              <Confirm
                label='Release' of={phone_number} isDangerous act={() => release.mutateAsync(id)}
                words={`${phone_number} is no longer yours: somebody else may take it. The assistant that has it is left without a number.`}
              />
            )
          }
        ]}
        empty='You have no number yet. Add one, and give it to an assistant.'
      />
    </Page>
  )
}

export function DoNotCall () {
  const remove = useAction((id: number) => client.DELETE('/user/blacklist/{id}', { params: { path: { id } } }))
  return (
    <Page
      title='Do not call'
      actions={
        <FormDialog
          label='Add a number' isMain fields={[number, { name: 'reason', label: 'Why', most: 255 }]}
          words='Nobody calls this number from now on: its leads are set to blacklisted, and no new one is taken.'
          save={(body: Numbered) => client.POST('/user/blacklist', { body })}
        />
      }
    >
      <List
        name='blacklist'
        ask={lists.blacklist}
        idOf={({ id }) => id}
        filters={[search]}
        columns={[
          { name: 'Phone number', show: ({ phone_number }) => phone_number ?? 'Erased' },
          { name: 'Why', show: ({ reason }) => <Said>{reason ?? '–'}</Said> },
          { name: 'Since', show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Change',
            show: ({ id, phone_number }) => (
              <Confirm
                label='Allow calls' of={phone_number ?? 'the erased number'} act={() => remove.mutateAsync(id)}
                words='The number may be called again, and its leads go back to what they were.'
              />
            )
          }
        ]}
        empty='No number is on the list. Add the number of anybody who does not want to be called.'
      />
    </Page>
  )
}
