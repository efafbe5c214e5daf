// One webhook: what was sent, and what came back at each attempt.
import { Card, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useParams } from 'react-router'
import { client, useAction, useRead, type Schemas } from '../api.js'
import { Confirm } from '../blocks/confirm.js'
import { Facts, Loaded, Page, Section } from '../blocks/page.js'
import { Code, plain, Said, State, Time, To } from '../blocks/text.js'
import { outcomes, standing } from './webhook-words.js'

export function Delivery () {
  const { id = '' } = useParams()
  const path = { id }
  const query = useRead(['deliveries', id], () => client.GET('/user/webhook-deliveries/{id}', { params: { path } }))
  const again = useAction(() => client.POST('/user/webhook-deliveries/{id}/redeliver', { params: { path } }))
  return (
    <Page
      title={`Webhook ${id.slice(0, 8)}`}
      actions={
        <Confirm
          label='Send again' disabled={!query.data} act={() => again.mutateAsync(undefined)}
          words='It is sent once more, at once, with the same content, to the webhook URL that the assistant has now.'
        />
      }
    >
      <Loaded query={query}>
        {({ data }) => {
          const { call_id: call, assistant_id: assistant } = data
          return (
            <Details
              delivery={data}
              whose={{
                Call: call === null ? 'Test' : <To to={`/calls/${call}`}>{call}</To>,
                Assistant: assistant === null ? null : <To to={`/assistants/${assistant}`}>Assistant {assistant}</To>
              }}
            />
          )
        }}
      </Loaded>
    </Page>
  )
}

interface DetailsProps {
  delivery: Schemas['DeliveryDetails']
  /** What it is about. */
  whose: Record<string, ReactNode>
}

export function Details ({ delivery, whose }: DetailsProps) {
  const { status, url, created_at, last_error, attempts, request } = delivery
  return (
    <>
      <Facts
        facts={{
          Status: <State>{status}</State>,
          'What next': standing(delivery),
          Created: <Time at={created_at} />,
          ...whose,
          URL: url && <Said>{url}</Said>,
          'Last error': last_error && <Said>{last_error}</Said>
        }}
      />
      <Section title='Attempts'>
        {attempts.length === 0 && <Text>None yet.</Text>}
        <Stack gap='sm'>{attempts.toReversed().map((attempt) => <Attempt key={`${attempt.trigger} ${attempt.n}`} attempt={attempt} />)}</Stack>
      </Section>
      <Section title='What was sent'>
        {request === null ? <Text>Nothing yet.</Text> : <Sent request={request} />}
      </Section>
    </>
  )
}

function Attempt ({ attempt }: { attempt: Schemas['DeliveryAttempt'] }) {
  const { trigger, n, outcome, error, duration_ms: took, response_excerpt: excerpt } = attempt
  return (
    <Card withBorder>
      <Facts
        facts={{
          Attempt: `${n}, ${plain(trigger).toLowerCase()}`,
          Result: outcome === null ? 'Under way' : <State colour={outcome === 'delivered' ? 'green' : 'red'}>{outcomes[outcome] ?? outcome}</State>,
          Started: <Time at={attempt.started_at} />,
          Answer: attempt.status_code,
          Took: took === null ? null : `${took} ms`,
          Error: error && <Said>{error}</Said>
        }}
      />
      {excerpt !== null && excerpt !== '' && <Code label={`Beginning of the answer to attempt ${n}, ${trigger}`}>{excerpt}</Code>}
    </Card>
  )
}

function Sent ({ request: { method, url, headers, header_names: names, body } }: { request: Schemas['DeliveryRequest'] }) {
  const lines = [
    `${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ...names.map((name) => `${name}: (yours, not kept)`)
  ]
  return (
    <Stack gap='sm'>
      <Code label='Request'>{lines.join('\n')}</Code>
      {body === null ? <Text>The content is no longer kept.</Text> : <Code label='Content'>{indented(body)}</Code>}
    </Stack>
  )
}

/** JSON with line breaks, and anything else as it is. */
function indented (text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
