// The webhook of an assistant: how it is, a test, its secret, what goes with it, and what was missed.
import { Alert, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from 'react-router'
import { client, tagged, useAction, useRead, type Schemas, type Tagged } from '../api.js'
import { Act } from '../blocks/act.js'
import { Changing } from '../blocks/changing.js'
import { Confirm } from '../blocks/confirm.js'
import { FormDialog } from '../blocks/form-dialog.js'
import { ApiForm, changesOf, given, Inputs, shown, type Field } from '../blocks/form.js'
import { Facts, Loaded, Section } from '../blocks/page.js'
import { Secret } from '../blocks/secret.js'
import { Said, State, Time, To } from '../blocks/text.js'
import { VariableFacts } from '../blocks/variables.js'
import { named } from '../lists.js'
import { AssistantPage } from './assistant.js'
import { interruption } from './webhook-words.js'

export const AssistantWebhook = () => <AssistantPage>{(assistant) => <Webhook assistant={assistant} />}</AssistantPage>

function Webhook ({ assistant }: { assistant: Schemas['Assistant'] }) {
  const { id, settings: { webhook_url: url }, webhook: { state, reason, since, until } } = assistant
  const path = { id }
  const navigate = useNavigate()
  const resume = useAction(() => client.POST('/user/assistant/{id}/webhook-resume', { params: { path } }))
  const test = useAction(() => client.POST('/user/assistant/{id}/webhook-test', { params: { path } }), {
    then: ({ data }) => void navigate(`/webhooks/${data.id}`)
  })
  return (
    <>
      <Facts
        facts={{
          State: <State>{state}</State>,
          Why: reason && interruption(reason),
          ...(since !== null && { Since: <Time at={since} /> }),
          ...(until !== null && { Until: <Time at={until} /> }),
          URL: url === null ? <To to={`/assistants/${id}`}>None yet: set it in the settings</To> : <Said>{url}</Said>
        }}
      />
      {state === 'suspended' && (
        <Alert color='red' variant='outline' title='Nothing is sent until you resume it.'>
          <Act label='Resume the webhook' act={() => resume.mutateAsync(undefined)} />
        </Alert>
      )}
      <Group gap='xs'>
        <Confirm
          label='Send a test' disabled={url === null} act={() => test.mutateAsync(undefined)}
          words='One webhook with sample values goes to the URL, signed as all others are.'
        />
        <Recover id={id} isOff={state === 'off'} />
        <To to={`/webhooks?assistant_id=${id}`}>Webhooks of this assistant</To>
      </Group>
      <Section title='Secret'><OwnSecret id={id} /></Section>
      <Section title='What goes with each webhook'><Options id={id} /></Section>
    </>
  )
}

const recoverable = named(['exhausted', 'cancelled', 'skipped', 'held', 'scheduled'])
const recovery: Field[] = [
  { name: 'since', label: 'Created from', kind: 'moment', isRequired: true, hint: 'In your time zone.' },
  { name: 'until', label: 'Until', kind: 'moment', hint: 'Empty: now.' },
  { name: 'statuses', label: 'Which', kind: 'several', options: recoverable, usual: ['exhausted', 'cancelled', 'skipped', 'held'] }
]

const Recover = ({ id, isOff }: { id: number, isOff: boolean }) => isOff
  ? null
  : (
    <FormDialog
      label='Send what was missed' fields={recovery}
      words='What failed or was not sent is sent from the beginning of its schedule, the oldest first.'
      save={(body: Schemas['RecoverBody']) =>
        client.POST('/user/assistant/{id}/webhook-recover', { params: { path: { id } }, body })}
    />
    )

function OwnSecret ({ id }: { id: number }) {
  const params = { path: { id } }
  const drop = useAction(() => client.DELETE('/user/assistant/{id}/webhook-secret', { params }), { said: 'Your own secret signs again' })
  return (
    <Secret
      name={`assistant ${id}`} rotateLabel='Give it a new secret of its own'
      ask={() => client.GET('/user/assistant/{id}/webhook-secret', { params })}
      rotate={(body) => client.POST('/user/assistant/{id}/webhook-secret', { params, body })}
      words={({ own }) => own ? 'This secret is of this assistant alone.' : 'The assistant has no secret of its own: this is yours, for all assistants.'}
    >
      <Confirm
        label='Go back to your secret' act={() => drop.mutateAsync(undefined)}
        words='Your own secret signs the webhooks of this assistant again. The one of the assistant signs beside it for 24 hours.'
      />
    </Secret>
  )
}

const bound: Field = {
  name: 'max_per_second', label: 'Most attempts in a second', kind: 'number', min: 1, isNullable: true, hint: 'Empty: no bound.'
}
const headers: Field = {
  name: 'headers', label: 'New headers', kind: 'variables', hint: 'They take the place of all that were set before. Kept encrypted.'
}

const fields = [headers, bound]
/** Headers are shown in part: they are typed anew. */
const initialOf = ({ max_per_second }: Schemas['WebhookOptions']) => shown(fields, { max_per_second })

function Options ({ id }: { id: number }) {
  const read = () => tagged(() => client.GET('/user/assistant/{id}/webhook-options', { params: { path: { id } } }))
  const query = useRead(['options', id], read)
  return (
    <Loaded query={query} rows={3}>
      {(found) => (
        <Changing found={found} tagOf={({ tag }) => tag} contentOf={({ data }) => data}>
          {(shown, saved) => <OptionsForm id={id} shown={shown} saved={saved} />}
        </Changing>
      )}
    </Loaded>
  )
}

interface OptionsFormProps { id: number, shown: Tagged<Schemas['WebhookOptions']>, saved: () => void }

function OptionsForm ({ id, shown: { data, tag }, saved }: OptionsFormProps) {
  const save = (body: Schemas['WebhookOptionsInput']) =>
    client.PUT('/user/assistant/{id}/webhook-options', { params: { path: { id }, header: { 'If-Match': tag } }, body })
  const clear = useAction(() => save({ headers: {} }), { then: saved })
  return (
    <Stack>
      {Object.keys(data.headers).length === 0
        ? <Text>No headers of your own.</Text>
        : (
          <>
            <VariableFacts values={data.headers} />
            <Group><Confirm label='Remove these headers' act={() => clear.mutateAsync(undefined)} words='Webhooks go without headers of your own.' /></Group>
          </>
          )}
      <ApiForm
        initial={initialOf(data)} button='Save' save={(values) => save(changesOf(given(fields, initialOf(data)), given(fields, values)))}
        saved={(_, form) => {
          form.setFieldValue('headers', [])
          saved()
        }}
      >
        {(form) => <Inputs fields={fields} form={form} />}
      </ApiForm>
    </Stack>
  )
}
