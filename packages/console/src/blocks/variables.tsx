// Names and values that users make up. A value that is no text is shown as JSON, and stays what it is.
import { Button, Group, Input, Stack, TextInput } from '@mantine/core'
import type { Form } from './form.js'

interface Pair { name: string, text: string, former?: unknown }

const textOf = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value)

export const pairsOf = (values: Record<string, unknown>): Pair[] =>
  Object.entries(values).map(([name, value]) => ({ name, text: textOf(value), former: value }))

export const variablesOf = (pairs: unknown): Record<string, unknown> =>
  Object.fromEntries((pairs as Pair[]).filter(({ name }) => name !== '').map(({ name, text, former }) =>
    [name, former !== undefined && textOf(former) === text ? former : text]))

interface VariablesProps { label: string, description: string, form: Form, at: string }

export function Variables ({ label, description, form, at }: VariablesProps) {
  const pairs = (form.getInputProps(at).value ?? []) as Pair[]
  return (
    <fieldset className='plain'>
      <legend>{label}</legend>
      {description !== '' && <Input.Description>{description}</Input.Description>}
      <Stack gap='xs' mt='xs'>
        {pairs.map(({ name }, index) => (
          <Group key={index} gap='xs' wrap='nowrap' align='start'>
            <TextInput flex={1} aria-label={`Name ${index + 1}`} placeholder='Name' {...form.getInputProps(`${at}.${index}.name`)} />
            <TextInput
              flex={2} aria-label={`Value of ${name || index + 1}`} placeholder='Value' {...form.getInputProps(`${at}.${index}.text`)}
            />
            <Button variant='default' aria-label={`Remove ${name || index + 1}`} onClick={() => form.removeListItem(at, index)}>×</Button>
          </Group>
        ))}
        <Group>
          <Button variant='default' size='xs' onClick={() => form.insertListItem(at, { name: '', text: '' })}>Add a variable</Button>
        </Group>
      </Stack>
    </fieldset>
  )
}
