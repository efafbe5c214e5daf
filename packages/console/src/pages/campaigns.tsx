import { client, tagged, useAction, useRead, type Tagged } from '../api.js'
import { Changing } from '../blocks/changing.js'
import { Confirm } from '../blocks/confirm.js'
import { DialogButton } from '../blocks/dialog.js'
import { FormDialog } from '../blocks/form-dialog.js'
import { ApiForm, given, Inputs, shown, type Field } from '../blocks/form.js'
import { List } from '../blocks/list.js'
import { Page } from '../blocks/page.js'
import { To } from '../blocks/text.js'
import { lists } from '../lists.js'

interface Named { name: string }

const fields: Field[] = [{ name: 'name', label: 'Name', isRequired: true, most: 255 }]

export function Campaigns () {
  return (
    <Page
      title='Campaigns'
      actions={
        <FormDialog
          label='New campaign' isMain fields={fields}
          save={(body: Named) => client.POST('/user/campaign', { body })}
        />
      }
    >
      <List
        name='campaigns'
        ask={lists.campaigns}
        idOf={({ id }) => id}
        filters={[{ field: 'search', label: 'Search by name' }]}
        columns={[
          { name: 'Name', show: ({ id, name }) => <To to={`/leads?campaign_id=${id}`}>{name}</To> },
          { name: 'Id', show: ({ id }) => id },
          { name: 'Change', show: (campaign) => <Actions {...campaign} /> }
        ]}
        empty='There is no campaign yet. Create one: leads are called for it.'
      />
    </Page>
  )
}

const unknown = '"0"'

/** It begins with the name in the list, and reads what `If-Match` takes. */
function Rename ({ id, name, close }: Named & { id: number, close: () => void }) {
  const path = { id }
  const read = () => tagged(() => client.GET('/user/campaign/{id}', { params: { path } }))
  const { data: found = { data: { name }, tag: unknown } } = useRead(['campaigns', id, name], read)
  return (
    <Changing<Tagged<Named>> found={found} tagOf={({ tag }) => tag} contentOf={({ data }) => data.name}>
      {({ data, tag }) => (
        <ApiForm
          initial={shown(fields, data)} button='Rename' saved={close}
          save={(values) => client.PUT('/user/campaign/{id}', {
            params: { path, header: { 'If-Match': tag } }, body: given<Named>(fields, values)
          })}
        >
          {(form) => <Inputs fields={fields} form={form} />}
        </ApiForm>
      )}
    </Changing>
  )
}

function Actions ({ id, name }: Named & { id: number }) {
  const params = { path: { id } }
  const remove = useAction(() => client.DELETE('/user/campaign/{id}', { params }))
  return (
    <div className='buttons'>
      <DialogButton label='Rename' of={name}>{(close) => <Rename id={id} name={name} close={close} />}</DialogButton>
      <Confirm
        label='Delete' of={name} isDangerous act={() => remove.mutateAsync(undefined)}
        words={`${name} takes no more leads. Those that it has stay, and can be read.`}
      />
    </div>
  )
}
