// One assistant, and a new one.
import { Alert, Button } from '@mantine/core'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { client, useAction, useRead, type Schemas } from '../api.js'
import { Confirm } from '../blocks/confirm.js'
import { Facts, Loaded, Page } from '../blocks/page.js'
import { Said, State, Time } from '../blocks/text.js'
import { AssistantForm } from './assistant-form.js'

export function NewAssistant () {
  const navigate = useNavigate()
  return (
    <Page title='New assistant'>
      <AssistantForm
        button='Create assistant'
        save={(body) => client.POST('/user/assistant', { body: body as Schemas['AssistantInput'] })}
        saved={({ data }) => void navigate(`/assistants/${data.id}`)}
      />
    </Page>
  )
}

export function Assistant () {
  const id = Number(useParams().id)
  const query = useRead(['assistants', id], () => client.GET('/user/assistant/{id}', { params: { path: { id } } }))
  return (
    <Page title={query.data?.data.name ?? `Assistant ${id}`} actions={query.data && <Actions assistant={query.data.data} />}>
      <Loaded query={query}>{({ data }) => <Settings assistant={data} />}</Loaded>
    </Page>
  )
}

function Actions ({ assistant: { id, status } }: { assistant: Schemas['Assistant'] }) {
  const navigate = useNavigate()
  const path = { id }
  const isActive = status === 'active'
  const change = useAction(() => client.PUT('/user/assistant/{id}', { params: { path }, body: { status: isActive ? 'inactive' : 'active' } }))
  const remove = useAction(() => client.DELETE('/user/assistant/{id}', { params: { path } }), { then: () => void navigate('/assistants') })
  return (
    <>
      <Button variant='default' loading={change.isPending} onClick={() => change.mutate(undefined)}>{isActive ? 'Switch off' : 'Switch on'}</Button>
      <Confirm
        label='Delete' isDangerous act={() => remove.mutateAsync(undefined)}
        words='The assistant is gone for good. Calls that are still reported are kept, and their webhooks are sent.'
      />
    </>
  )
}

function Settings ({ assistant }: { assistant: Schemas['Assistant'] }) {
  const [shown, setShown] = useState(assistant)
  const [hasSaved, setSaved] = useState(false)
  const { id, revision } = shown
  const isNewer = assistant.revision !== revision
  if (isNewer && hasSaved) {
    setSaved(false)
    setShown(assistant)
  }
  return (
    <>
      <Facts
        facts={{
          Status: <State>{assistant.status}</State>,
          Webhook: <State>{assistant.webhook.state}</State>,
          Created: <Time at={assistant.created_at} />,
          'Last change': <Time at={assistant.updated_at} />
        }}
      />
      {isNewer && !hasSaved && (
        <Alert color='orange' variant='outline' title='The assistant was changed elsewhere meanwhile.'>
          <Button variant='default' size='xs' onClick={() => setShown(assistant)}>Show it as it is now</Button> <Said>What you have typed is lost then.</Said>
        </Alert>
      )}
      <AssistantForm
        key={revision} settings={shown.settings} button='Save changes' saved={() => setSaved(true)}
        save={(body) => client.PUT('/user/assistant/{id}', {
          params: { path: { id }, header: { 'If-Match': `"${revision}"` } }, body
        })}
      />
    </>
  )
}
