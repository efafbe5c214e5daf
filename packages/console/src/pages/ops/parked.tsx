// Parked events: those that could not be read or contradict the rows, and the later events of their streams.
import { Stack, Text } from '@mantine/core'
import { client, useAction, useRead, type Schemas } from '../../api.js'
import { Confirm } from '../../blocks/confirm.js'
import type { Field } from '../../blocks/fields.js'
import { FormDialog } from '../../blocks/form-dialog.js'
import { Rows } from '../../blocks/list.js'
import { Loaded, Page } from '../../blocks/page.js'
import { Said, Time, To } from '../../blocks/text.js'

export function Parked () {
  const query = useRead(['parked'], () => client.GET('/ops/api/parked'))
  return (
    <Page title='Parked events'>
      <Text>
        An event that cannot be read, or contradicts the rows, holds up its own stream and nothing else. Retry it when
        the code has learnt to read it, or skip it for good.
      </Text>
      <Loaded query={query}>{({ data }) => <ParkedStreams streams={data} />}</Loaded>
    </Page>
  )
}

export function ParkedStreams ({ streams }: { streams: readonly Schemas['ParkedStream'][] }) {
  if (streams.length === 0) return <div className='empty'>Nothing is parked.</div>
  return (
    <Rows
      items={streams}
      idOf={({ projection, generation, stream }) => `${projection} ${generation} ${stream}`}
      columns={[
        { name: 'Event', show: ({ stream, revision, type }) => <Said>{stream}@{revision}, {type}</Said> },
        { name: 'Projection', show: ({ projection }) => <To to={`/projections/${projection}`}>{projection}</To> },
        { name: 'Generation', show: ({ generation }) => generation ?? '–' },
        { name: 'Events', show: ({ events }) => events },
        { name: 'Since', show: ({ since }) => <Time at={since} /> },
        { name: 'Error', show: ({ error }) => <Said>{error}</Said> },
        { name: 'What to do', show: (parked) => <Stack gap={4} align='start'><Retry parked={parked} /><Skip parked={parked} /></Stack> }
      ]}
    />
  )
}

function Retry ({ parked: { projection, stream, events } }: { parked: Schemas['ParkedStream'] }) {
  const retry = useAction(() => client.POST('/ops/api/parked/retry', { body: { projection, stream } }))
  return (
    <Confirm
      label='Retry' of={`${stream} of ${projection}`} act={() => retry.mutateAsync(undefined)}
      words={`${projection} reads ${events === 1 ? 'the parked event' : `the ${events} parked events`} of ${stream} again, in order: all of them, or none. ` +
        (projection === 'dispatcher' ? 'No webhook is sent by that.' : 'If it refuses one again, nothing changes.')}
    />
  )
}

const why: Field = {
  name: 'reason', label: 'Why it is given up', isRequired: true, most: 200, hint: 'For those who come later.'
}

function Skip ({ parked: { projection, stream, revision } }: { parked: Schemas['ParkedStream'] }) {
  return (
    <FormDialog
      label='Skip' of={`${stream} of ${projection}`} fields={[why]}
      words={
        <>
          <Said>{stream}@{revision}</Said> is given up for good: {projection} goes on without it, and every rebuild
          passes over it.
        </>
      }
      save={({ reason = '' }: { reason?: string }) => client.POST('/ops/api/parked/skip', { body: { projection, stream, revision, reason } })}
    />
  )
}
