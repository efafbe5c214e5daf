// A secret that signs webhooks: hidden until it is asked for, and changed.
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Answered } from '@ringledger/client'
import { useState, type ReactNode } from 'react'
import { useRead, type Schemas } from '../api.js'
import { FormDialog } from './form-dialog.js'
import { Loaded } from './page.js'
import { Code, Time } from './text.js'

type Found = Promise<Answered<{ data: Schemas['WebhookSecret'] & { own?: boolean } }>>

interface SecretProps {
  name: string
  ask: () => Found
  rotate: (body: { overlap_hours?: number }) => Found
  words: (found: { own?: boolean }) => ReactNode
  rotateLabel?: string
  children?: ReactNode
}

export function Secret ({ name, ask, rotate, words, rotateLabel = 'Change the secret', children }: SecretProps) {
  const [isShown, setShown] = useState(false)
  const query = useRead(['secrets', name], ask, { enabled: isShown })
  return (
    <Stack gap='sm'>
      {isShown && (
        <Loaded query={query} rows={1}>
          {({ data }) => (
            <>
              <Text>{words(data)}</Text>
              <Code label='Secret'>{data.secret}</Code>
              {data.previous && <Text>The former one signs as well until <Time at={data.previous.expires_at} />.</Text>}
            </>
          )}
        </Loaded>
      )}
      <Group gap='xs'>
        <Button variant='default' onClick={() => setShown(!isShown)}>{isShown ? 'Hide the secret' : 'Show the secret'}</Button>
        <FormDialog
          label={rotateLabel} said='There is a new secret' saved={() => setShown(true)}
          words='The former secret signs beside the new one for some hours, so that receivers can be changed one after the other.'
          fields={[{ name: 'overlap_hours', label: 'Hours', kind: 'number', min: 0, max: 168, usual: 24, hint: '0 ends the former one at once.' }]}
          save={rotate}
        />
        {children}
      </Group>
    </Stack>
  )
}
