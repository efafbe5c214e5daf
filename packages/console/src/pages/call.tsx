// One call: the conversation, what was found out, and what became of its webhook.
import { Anchor, Stack, Text } from '@mantine/core'
import { useParams } from 'react-router'
import { client, useRead, type Schemas } from '../api.js'
import { Rows } from '../blocks/list.js'
import { Facts, Loaded, Page, Section } from '../blocks/page.js'
import { Said, State, Time, To } from '../blocks/text.js'
import { VariableFacts } from '../blocks/variables.js'
import { deliveryColumns } from './deliveries.js'

export function Call () {
  const { id = '' } = useParams()
  const query = useRead(['calls', id], () => client.GET('/user/call/{id}', { params: { path: { id } } }))
  return <Page title={`Call ${id}`}><Loaded query={query}>{({ data }) => <Details call={data} />}</Loaded></Page>
}

function Details ({ call }: { call: Schemas['Call'] }) {
  const { transcript, input_variables: before, extracted_variables: found, evaluation, deliveries } = call
  return (
    <>
      {call.erased && <Text>The person was erased: what was said and who called is not kept.</Text>}
      <CallFacts call={call} />
      {transcript && <Section title='Conversation'><Conversation turns={transcript} /></Section>}
      {found && <Section title='What was found out'><VariableFacts values={found} /></Section>}
      {evaluation && <Section title='Evaluation'><VariableFacts values={evaluation} /></Section>}
      {before && <Section title='Variables of the call'><VariableFacts values={before} /></Section>}
      <Section title='Webhooks'>
        {deliveries.length === 0
          ? <Text>There is none for this call.</Text>
          : <Rows items={deliveries} columns={deliveryColumns} idOf={({ id }) => id} />}
      </Section>
    </>
  )
}

function CallFacts ({ call }: { call: Schemas['Call'] }) {
  const { status, direction, from, to, assistant_id: assistant, lead, recording_url: recording } = call
  return (
    <Facts
      facts={{
        Status: <State>{status}</State>,
        Direction: direction === 'inbound' ? 'From the customer' : 'To the customer',
        From: from,
        To: to,
        Started: <Time at={call.started_at} />,
        Ended: <Time at={call.ended_at} />,
        Length: `${call.duration} s`,
        Assistant: <To to={`/assistants/${assistant}`}>Assistant {assistant}</To>,
        Lead: lead && <To to={`/leads/${lead.primary_lead_id ?? lead.id}`}>Lead {lead.id}</To>,
        Recording: recording && <Anchor href={recording} target='_blank' rel='noreferrer'><Said>{recording}</Said></Anchor>
      }}
    />
  )
}

const speakers = { assistant: 'Assistant', customer: 'Customer', tool: 'Tool' }

function Conversation ({ turns }: { turns: Schemas['TranscriptTurn'][] }) {
  if (turns.length === 0) return <Text>Nothing was said.</Text>
  return (
    <Stack component='ol' className='talk' gap='xs'>
      {turns.map(({ role, text, at }, index) => (
        <li key={index} data-role={role}>
          <Text size='xs' className='dim'>{speakers[role]}, {Math.floor(at / 60)}:{String(Math.floor(at % 60)).padStart(2, '0')}</Text>
          <Said>{text}</Said>
        </li>
      ))}
    </Stack>
  )
}
