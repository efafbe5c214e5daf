// The form of an assistant, for a new one and for changes.
import { Button, Fieldset, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import type { Answered } from '@ringledger/client'
import type { Schemas } from '../api.js'
import { ApiForm, changesOf, given, Inputs, shown, type Field, type Form, type Values } from '../blocks/form.js'
import { lists, useOptions } from '../lists.js'
import { sections } from './assistant-fields.js'

const all = sections.flatMap(({ fields }) => fields)
const tool = 'end_call_tool.description'
const plainFields = all.filter(({ name }) => name !== tool)

const usualSchema: Schemas['PostCallFieldInput'][] = [
  { name: 'status', type: 'bool', description: 'Whether the goal of the call was reached' },
  { name: 'summary', type: 'string', description: 'Summary of the call' }
]

const inputsOf = (settings?: Schemas['AssistantSettings']): Values => ({
  ...shown(plainFields, settings ?? { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
  end_call_tool: { description: settings?.end_call_tool?.description ?? '' },
  post_call_schema: settings?.post_call_schema ?? usualSchema
})

function bodyOf (values: Values): Values {
  const { description } = values.end_call_tool as { description: string }
  return {
    ...given(plainFields, values),
    end_call_tool: description === '' ? null : { description },
    post_call_schema: values.post_call_schema
  }
}

interface AssistantFormProps<Data> {
  /** Those of an assistant that is there. */
  settings?: Schemas['AssistantSettings']
  button: string
  save: (body: Values) => Promise<Answered<Data>>
  saved: (data: Data) => void
}

export function AssistantForm<Data> ({ settings, button, save, saved }: AssistantFormProps<Data>) {
  const initial = inputsOf(settings)
  const before = bodyOf(initial)
  const chosen = useChosen()
  return (
    <ApiForm
      initial={initial} button={button} saved={saved}
      save={(values) => save(settings ? changesOf(before, bodyOf(values)) : bodyOf(values))}
    >
      {(form) => sections.map(({ title, fields }) => (
        <Fieldset key={title} legend={title}>
          <Stack>
            <Inputs form={form} fields={fields.map((field) => ({ ...field, ...chosen[field.name] }))} />
            {title === 'After the call' && <PostCallSchema form={form} />}
          </Stack>
        </Fieldset>
      ))}
    </ApiForm>
  )
}

/** What there is to choose from. */
function useChosen (): Record<string, Partial<Field>> {
  const same = ({ name }: { name: string }) => ({ value: name, label: name })
  const voices = useOptions('voices', lists.voices, ({ id, name }) => ({ value: String(id), label: name }))
  const languages = useOptions('languages', lists.languages, same)
  const models = useOptions('models', lists.models, same)
  const numbers = useOptions('numbers', lists.numbers, ({ id, phone_number }) => ({ value: String(id), label: phone_number }))
  return {
    voice_id: { options: voices },
    language: { options: languages },
    llm_model: { suggestions: models.map(({ value }) => value) },
    phone_number_id: { options: [{ value: '', label: 'None' }, ...numbers] }
  }
}

const types = [{ value: 'string', label: 'Text' }, { value: 'number', label: 'Number' }, { value: 'bool', label: 'Yes or no' }]

/** What is extracted from what was said. */
function PostCallSchema ({ form }: { form: Form }) {
  const at = 'post_call_schema'
  const rows = form.getInputProps(at).value as Schemas['PostCallFieldInput'][]
  return (
    <fieldset className='plain'>
      <legend>What to find out from the conversation</legend>
      <Stack gap='md' mt='xs'>
        {rows.map(({ name }, index) => (
          <Group key={index} gap='xs' align='start'>
            <TextInput w={140} aria-label={`Name of value ${index + 1}`} placeholder='Name' {...form.getInputProps(`${at}.${index}.name`)} />
            <NativeSelect w={110} aria-label={`Type of value ${index + 1}`} data={types} {...form.getInputProps(`${at}.${index}.type`)} />
            <TextInput flex='1 1 200px' aria-label={`Meaning of value ${index + 1}`} placeholder='Meaning' {...form.getInputProps(`${at}.${index}.description`)} />
            <Button variant='default' aria-label={`Remove ${name || index + 1}`} onClick={() => form.removeListItem(at, index)}>×</Button>
          </Group>
        ))}
        <Group>
          <Button variant='default' size='xs' onClick={() => form.insertListItem(at, { name: '', type: 'string', description: '' })}>Add a value</Button>
        </Group>
      </Stack>
    </fieldset>
  )
}
