// Forms that are declared: a field is a row of a table. What the API says of a field stands at its input.
import { useForm, type UseFormReturnType } from '@mantine/form'
import { Alert, Button, Group, NativeSelect, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import type { Answered } from '@ringledger/client'
import { useState, type ReactNode } from 'react'
import { inWords, Refused, useAction } from '../api.js'
import type { Options } from './list.js'
import { plain, Said } from './text.js'
import { pairsOf, Variables, variablesOf } from './variables.js'

export interface Field {
  /** As the API names it. */
  name: string
  label: string
  kind?: 'text' | 'long' | 'number' | 'switch' | 'variables' | 'date' | 'url'
  /** One of these; of `number` fields the values are numbers. */
  options?: Options
  /** Shown as what can be typed. */
  suggestions?: readonly string[]
  hint?: string
  isRequired?: boolean
  /** Sent as null where it is empty, which takes away what was there. */
  isNullable?: boolean
  min?: number
  max?: number
  step?: number
  most?: number
  /** What the API takes where nothing is given; the input begins with it. */
  usual?: string | number | boolean
}

export type Values = Record<string, unknown>
export type Form = UseFormReturnType<Values>

/** What inputs show of the values of an answer, or of those that are usual. */
export function shown (fields: readonly Field[], values: object = {}): Values {
  return Object.fromEntries(fields.map((field) => {
    const value: unknown = Reflect.get(values, field.name) ?? field.usual
    if (field.kind === 'switch') return [field.name, value === true]
    if (field.kind === 'variables') return [field.name, pairsOf(Object(value))]
    return [field.name, value === undefined || value === null ? '' : String(value)]
  }))
}

/** What the API gets of inputs. One that was emptied is what is usual. */
export function given (fields: readonly Field[], values: Values): Values {
  return Object.fromEntries(fields.map((field) => {
    const value = values[field.name]
    if (field.kind === 'variables') return [field.name, variablesOf(value)]
    if (typeof value !== 'string') return [field.name, value]
    if (value === '') return [field.name, field.isNullable ? null : field.usual]
    return [field.name, field.kind === 'number' ? Number(value) : value]
  }))
}

interface ApiFormProps<Data> {
  initial: Values
  /** Sends it. */
  save: (values: Values) => Promise<Answered<Data>>
  saved?: (data: Data, form: Form) => void
  said?: string
  button: string
  children: (form: Form) => ReactNode
}

export function ApiForm<Data> ({ initial, save, saved, said, button, children }: ApiFormProps<Data>) {
  const form = useForm<Values>({ initialValues: initial })
  const [problem, setProblem] = useState<string[]>([])
  const action = useAction(save, {
    ...(said !== undefined && { said }),
    then: (data) => {
      form.resetDirty()
      saved?.(data, form)
    }
  })
  const submit = form.onSubmit((values) => {
    setProblem([])
    action.mutate(values, {
      onError: (error) => {
        const fields = error instanceof Refused ? Object.entries(error.fields) : []
        form.setErrors(Object.fromEntries(fields.map(([field, reasons]) => [field, reasons.map(plain).join('. ')])))
        const nowhere = fields.filter(([field]) => form.getInputNode(field) === null)
        setProblem([inWords(error), ...nowhere.map(([field, reasons]) => `${field}: ${reasons.join(', ')}`)])
        const [first] = fields.map(([field]) => form.getInputNode(field)).filter((node) => node !== null)
        first?.focus()
      }
    })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={720}>
        {children(form)}
        {problem.length > 0 && (
          <Alert color='red' variant='outline' role='alert' title={problem[0]}>
            {problem.slice(1).map((line) => <div key={line}><Said>{line}</Said></div>)}
          </Alert>
        )}
        <Group><Button type='submit' loading={action.isPending}>{button}</Button></Group>
      </Stack>
    </form>
  )
}

/** Limits and what is usual, in words. */
function about ({ hint, min, max, most, usual, kind }: Field): string {
  const range = min !== undefined && max !== undefined ? `${min} to ${max}.` : ''
  const length = most === undefined ? '' : `At most ${most} characters.`
  const wont = usual === undefined || usual === '' || kind === 'switch' ? '' : `Usually ${usual}.`
  return [hint, range, length, wont].filter(Boolean).join(' ')
}

export function Input ({ field, form, at = field.name }: { field: Field, form: Form, at?: string }) {
  const { label, kind = 'text', options, suggestions, isRequired = false, min, max, step = 1, most } = field
  const list = suggestions && `${at}-suggestions`
  const props = {
    label,
    description: about(field),
    withAsterisk: isRequired,
    ...form.getInputProps(at, { type: kind === 'switch' ? 'checkbox' : 'input' })
  }
  if (kind === 'switch') return <Switch {...props} />
  if (kind === 'variables') return <Variables {...props} form={form} at={at} />
  if (options) return <NativeSelect {...props} data={isRequired ? choose(options) : [...options]} />
  if (kind === 'long') return <Textarea {...props} maxLength={most} autosize minRows={3} maxRows={16} />
  return (
    <>
      <TextInput
        {...props} type={kind} maxLength={most}
        {...(kind === 'number' && { min, max, step, inputMode: 'decimal' as const })} {...(list && { list })}
      />
      {list && <datalist id={list}>{suggestions.map((each) => <option key={each} value={each} />)}</datalist>}
    </>
  )
}

const choose = (options: Options) => [{ value: '', label: 'Choose …' }, ...options]

export const Inputs = ({ fields, form }: { fields: readonly Field[], form: Form }) =>
  fields.map((field) => <Input key={field.name} field={field} form={form} />)
