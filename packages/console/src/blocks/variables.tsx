// Names and values that users make up. A value that is no text is shown as JSON, and stays what it is.
import { Button, Group, Input, Stack, TextInput } from '@mantine/core'
import type { Form } from './fields.js'
import { Facts } from './page.js'
import { Said } from './text.js'

interface Pair { name: string, text: string, former?: unknown }

export const textOf = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value)

export const pairsOf = (values: Record<string, unknown>): Pair[] =>
  Object.entries(values).map(([name, value]) => ({ name, text: textOf(value), former: value }))

export const variablesOf = (pairs: unknown): Record<string, unknown> =>
  Object.fromEntries((pairs as Pair[]).filter(({ name }) => name !== '').map(({ name, text, former }) =>
    [name, former !== undefined && textOf(former) === text ? former : text]))

/** Where the input is of what the API names by `variables.NAME`. */
export function inputOf (field: string, form: Form): string {
  const [, at, name] = /^(.*(?:variables|headers))\.(.+)$/.exec(field) ?? []
  if (at === undefined) return field
  const index = (form.getInputProps(at).value as Pair[]).findIndex((pair) => pair.name === name)
  return index < 0 ? field : `${at}.${index}.text`
}

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
            <TextInput
              flex={1} aria-label={`${label}: name ${index + 1}`} placeholder='Name'
              {...form.getInputProps(`${at}.${index}.name`)}
            />
            <TextInput
              flex={2} aria-label={`${label}: value of ${name || index + 1}`} placeholder='Value'
              {...form.getInputProps(`${at}.${index}.text`)}
            />
            <Button
              variant='default' aria-label={`${label}: remove ${name || index + 1}`}
              onClick={() => form.removeListItem(at, index)}
            >
              ×
            </Button>
          </Group>
        ))}
        <Group>
          <Button variant='default' size='xs' onClick={() => form.insertListItem(at, { name: '', text: '' })}>
            Add one
          </Button>
        </Group>
      </Stack>
    </fieldset>
  )
}

/** To read. */
export function VariableFacts ({ values }: { values: object }) {
  const entries = Object.entries(values)
  if (entries.length === 0) return 'None.'
  const facts = entries.map(([name, value]) => [name, <Said key={name}>{textOf(value) || '–'}</Said>])
  return <Facts facts={Object.fromEntries(facts)} />
}
