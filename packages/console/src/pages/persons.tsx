// What is known of a person: a copy of it, and its erasure.
import { SimpleGrid, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { client, useAction, useRead, type Schemas } from '../api.js'
import { Confirm } from '../blocks/confirm.js'
import { Download } from '../blocks/download.js'
import { Facts, Loaded, Page, Section } from '../blocks/page.js'
import { Said, State, Time } from '../blocks/text.js'

export function Persons () {
  const [address, setAddress] = useSearchParams()
  const [number, setNumber] = useState('')
  const phone_number = number.trim()
  const then = ({ data }: Schemas['BegunPersonRequestAnswer']) => setAddress({ request: data.id })
  const copy = useAction(() => client.POST('/user/person/export', { body: { phone_number } }), { then })
  const erase = useAction(() => client.POST('/user/person/erase', { body: { phone_number } }), { then })
  const isNumber = /^\+[1-9]\d{1,14}$/.test(phone_number)
  const request = address.get('request')
  return (
    <Page title='Persons'>
      <Text>When somebody asks what you know of them, or wants it erased, type their phone number.</Text>
      <TextInput
        label='Phone number' description='Such as +15551230100.' type='tel' maw={320}
        value={number} onChange={({ currentTarget }) => setNumber(currentTarget.value)}
        error={phone_number !== '' && !isNumber && 'A phone number begins with + and the code of its country.'}
      />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title='A copy of everything'>
          <Text mb='sm'>
            Leads, contacts, calls, webhooks and the do-not-call entry, as one JSON file. You can fetch it for 24 hours.
          </Text>
          <Confirm
            label='Make a copy' disabled={!isNumber} act={() => copy.mutateAsync(undefined)}
            words={`A file of all that is known of ${phone_number} is made.`}
          />
        </Section>
        <Section title='Erase the person'>
          <Text mb='sm'>
            Their leads and contacts are gone for good. Calls keep their time and length, without numbers, conversation,
            recording and variables. Webhooks lose their content. A do-not-call entry stays in force.
          </Text>
          <Confirm
            label='Erase the person' isDangerous typed={phone_number} disabled={!isNumber} act={() => erase.mutateAsync(undefined)}
            words={`Nobody can bring back what is known of ${phone_number}, and no backup of yours holds it in a form that can be read.`}
          />
        </Section>
      </SimpleGrid>
      {request !== null && <Request key={request} id={request} />}
    </Page>
  )
}

const words = { export: 'A copy of everything', erasure: 'Erasure' }

function Request ({ id }: { id: string }) {
  const path = { id }
  const query = useRead(['persons', id], () => client.GET('/user/person-request/{id}', { params: { path } }), {
    pollMs: (found) => found?.data.status === 'processing' ? 1_000 : false
  })
  return (
    <Section title='Your last request'>
      <Loaded query={query} rows={2}>
        {({ data: { type, status, created_at, finished_at, waits_for: waits } }) => (
          <>
            <Facts
              facts={{
                What: words[type],
                Status: <State>{status}</State>,
                Started: <Time at={created_at} />,
                Ended: <Time at={finished_at} />,
                ...(waits !== undefined && { 'Waits for': <Said>{waits}</Said> })
              }}
            />
            {type === 'export' && status === 'completed' && (
              <Download
                label='Download the copy' file='person.json'
                ask={() => client.GET('/user/person-request/{id}/download', { params: { path }, parseAs: 'blob' })}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
