// One assistant, and a new one.
import type { ReactNode } from 'react'
import { useNavigate, useParams } from 'react-router'
import { client, useAction, useRead, type Schemas } from '../api.js'
import { Act } from '../blocks/act.js'
import { Changing } from '../blocks/changing.js'
import { Confirm } from '../blocks/confirm.js'
import { Facts, Loaded, Page } from '../blocks/page.js'
import { Tabs } from '../blocks/tabs.js'
import { State, Time } from '../blocks/text.js'
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

export const Assistant = () => <AssistantPage>{(assistant) => <Settings assistant={assistant} />}</AssistantPage>

/** What its settings, its history and its webhook have in common. */
export function AssistantPage ({ children }: { children: (assistant: Schemas['Assistant']) => ReactNode }) {
  const { id: given } = useParams()
  const id = Number(given)
  const at = `/assistants/${given}`
  const query = useRead(['assistants', id], () => client.GET('/user/assistant/{id}', { params: { path: { id } } }))
  return (
    <Page isNamed title={query.data?.data.name ?? `Assistant ${given}`} actions={<Actions id={id} status={query.data?.data.status} />}>
      <Tabs label='Of this assistant' links={{ Settings: at, History: `${at}/history`, Webhook: `${at}/webhook` }} />
      <Loaded query={query}>{({ data }) => children(data)}</Loaded>
    </Page>
  )
}

function Actions ({ id, status }: { id: number, status: Schemas['Assistant']['status'] | undefined }) {
  const navigate = useNavigate()
  const path = { id }
  const isUnknown = status === undefined
  const isActive = status !== 'inactive'
  const change = useAction(() => client.PUT('/user/assistant/{id}', { params: { path }, body: { status: isActive ? 'inactive' : 'active' } }))
  const remove = useAction(() => client.DELETE('/user/assistant/{id}', { params: { path } }), { then: () => void navigate('/assistants') })
  return (
    <>
      <Act label={isActive ? 'Switch off' : 'Switch on'} disabled={isUnknown} act={() => change.mutateAsync(undefined)} />
      <Confirm
        label='Delete' isDangerous disabled={isUnknown} act={() => remove.mutateAsync(undefined)}
        words='The assistant is gone for good. Calls that are still reported are kept, and their webhooks are sent.'
      />
    </>
  )
}

function Settings ({ assistant }: { assistant: Schemas['Assistant'] }) {
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
      <Changing found={assistant} tagOf={({ revision }) => revision} contentOf={({ settings }) => settings}>
        {({ id, revision, settings }, saved) => (
          <AssistantForm
            settings={settings} button='Save changes' saved={saved}
            save={(body) => client.PUT('/user/assistant/{id}', {
              params: { path: { id }, header: { 'If-Match': `"${revision}"` } }, body
            })}
          />
        )}
      </Changing>
    </>
  )
}
