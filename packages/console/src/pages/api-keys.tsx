import { Alert, Button, CopyButton, Group } from '@mantine/core'
import { useState } from 'react'
import { client, useAction, type Schemas } from '../api.js'
import { Confirm } from '../blocks/confirm.js'
import { FormDialog } from '../blocks/form-dialog.js'
import type { Field } from '../blocks/form.js'
import { List } from '../blocks/list.js'
import { focusHeading, Page } from '../blocks/page.js'
import { Code, Said, Time } from '../blocks/text.js'
import { labelled, lists } from '../lists.js'

const scopes: Record<Schemas['Scope'], string> = { read: 'Read', write: 'Change', webhooks: 'Read webhook secrets' }

const fields: Field[] = [
  { name: 'name', label: 'Name', isRequired: true, most: 255, hint: 'What it is for.' },
  {
    name: 'scopes',
    label: 'What it may do',
    kind: 'several',
    usual: ['read', 'write'],
    options: labelled(scopes)
  },
  { name: 'expires_at', label: 'Valid until', kind: 'moment', isNullable: true, hint: 'Empty: no end. In your time zone.' }
]

export function ApiKeys () {
  const [made, setMade] = useState<Schemas['CreatedApiKey']>()
  const revoke = useAction((id: number) => client.DELETE('/user/api-key/{id}', { params: { path: { id } } }))
  return (
    <Page
      title='API keys'
      actions={
        <FormDialog
          label='New API key' isMain fields={fields}
          save={(body: Schemas['ApiKeyInput']) => client.POST('/user/api-key', { body })}
          saved={({ data }) => setMade(data)}
        />
      }
    >
      {made && (
        <Alert
          color='green' variant='outline' role='status' title='Keep this key now: it is shown this once.'
          withCloseButton closeButtonLabel='Close'
          onClose={() => {
            setMade(undefined)
            focusHeading()
          }}
        >
          <Code label='The new key'>{made.key}</Code>
          {'clipboard' in navigator && ( // not with http on another computer
            <Group mt='xs'>
              <CopyButton value={made.key}>
                {({ copied, copy }) => <Button variant='default' onClick={copy}>{copied ? 'Copied' : 'Copy it'}</Button>}
              </CopyButton>
            </Group>
          )}
        </Alert>
      )}
      <List
        name='api-keys'
        ask={lists.keys}
        idOf={({ id }) => id}
        columns={[
          { name: 'Name', show: ({ name }) => <Said>{name}</Said> },
          { name: 'Begins with', show: ({ prefix }) => prefix },
          { name: 'What it may do', show: (key) => key.scopes.map((scope) => scopes[scope]).join(', ') },
          { name: 'Last used', show: ({ last_used_at }) => <Time at={last_used_at} /> },
          { name: 'Valid until', show: ({ expires_at }) => expires_at === null ? 'No end' : <Time at={expires_at} /> },
          {
            name: 'Change',
            show: ({ id, name }) => (
              <Confirm label='Revoke' of={name} isDangerous act={() => revoke.mutateAsync(id)} words={`Programs that use ${name} are refused within a second.`} />
            )
          }
        ]}
        empty='There is no key yet. Programs need one to call the API for you.'
      />
    </Page>
  )
}
