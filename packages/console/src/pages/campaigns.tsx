import { client, useAction } from '../api.js'
import { Confirm } from '../blocks/confirm.js'
import { FormDialog } from '../blocks/form-dialog.js'
import type { Field } from '../blocks/form.js'
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

function Actions ({ id, name }: Named & { id: number }) {
  const params = { path: { id } }
  const remove = useAction(() => client.DELETE('/user/campaign/{id}', { params }))
  return (
    <div className='buttons'>
      <FormDialog
        label='Rename' of={name} fields={fields} values={{ name }}
        save={(body: Named) => client.PUT('/user/campaign/{id}', { params, body })}
      />
      <Confirm
        label='Delete' of={name} isDangerous act={() => remove.mutateAsync(undefined)}
        words={`${name} takes no more leads. Those that it has stay, and can be read.`}
      />
    </div>
  )
}
