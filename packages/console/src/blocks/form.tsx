// Forms that are declared: a field is a row of a table. What the API says of a field stands at its input.
import { useForm } from '@mantine/form'
import { Alert, Button, Checkbox, Group, NativeSelect, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import type { Answered } from '@ringledger/client'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { inWords, queries, Refused, useAction } from '../api.js'
import { useMayChange } from '../session.js'
import type { Field, Form, Options, Values } from './fields.js'
import { inSentences, plain, Said } from './text.js'
import { inputOf, pairsOf, Variables, variablesOf } from './variables.js'

export type { Field, Form, Values } from './fields.js'

/** What inputs show of the values of an answer, or of those that are usual. */
export function shown (fields: readonly Field[], values: object = {}): Values {
  return Object.fromEntries(fields.map((field) => {
    const value: unknown = Reflect.get(values, field.name) ?? field.usual
    if (field.kind === 'switch') return [field.name, value === true]
    if (field.kind === 'variables') return [field.name, pairsOf(Object(value))]
    if (field.kind === 'several') return [field.name, value ?? []]
    return [field.name, value === undefined || value === null ? '' : String(value)]
  }))
}

/** What the API gets of inputs: the body whose fields these are. One that was emptied is what is usual. */
export function given<Body = Values> (fields: readonly Field[], values: Values): Body {
  return Object.fromEntries(fields.map((field) => {
    const value = values[field.name]
    if (field.kind === 'variables') return [field.name, variablesOf(value)]
    if (typeof value !== 'string') return [field.name, value]
    if (value === '') return [field.name, field.isNullable ? null : field.usual]
    if (field.kind === 'moment') return [field.name, new Date(value).toISOString()]
    return [field.name, field.kind === 'number' ? Number(value) : value]
  })) as Body
}

/** What differs from what was shown at first. What was emptied and must not be is sent so, and refused. */
export function changesOf (before: Values, now: Values): Values {
  const differs = (name: string, value: unknown) => JSON.stringify(value) !== JSON.stringify(before[name])
  const changes = Object.entries(now).filter(([name, value]) => differs(name, value))
  return Object.fromEntries(changes.map(([name, value = '']) => [name, value]))
}

interface ApiFormProps<Data> {
  /** What inputs begin with. Where it changes those do, too, in which nobody has typed. */
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
  const sent = useRef(initial)
  const untouched = useRef(initial)
  const wanted = JSON.stringify(initial)
  useEffect(() => {
    const typed = changesOf(untouched.current, form.getValues())
    untouched.current = initial
    form.setValues(Object.fromEntries(Object.entries(initial).filter(([name]) => !(name in typed))))
    setProblem([])
  }, [wanted]) // of what is in it: the object is another one each time
  const action = useAction(save, {
    ...(said !== undefined && { said }),
    then: (data) => {
      untouched.current = sent.current
      saved?.(data, form)
    }
  })
  const submit = form.onSubmit((values) => {
    setProblem([])
    sent.current = values
    action.mutate(values, {
      onError: (error) => {
        if (error instanceof Refused && error.status === 412) void queries.invalidateQueries()
        const fields = error instanceof Refused
          ? Object.entries(error.fields).map(([field, reasons]) => [inputOf(field, form), reasons] as const)
          : []
        form.setErrors(Object.fromEntries(fields.map(([field, reasons]) => [field, inSentences(reasons)])))
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
        <Group><Button type='submit' loading={action.isPending} disabled={!useMayChange()}>{button}</Button></Group>
      </Stack>
    </form>
  )
}

/** Limits and what is usual, in words. */
function about ({ hint, min, max, most, usual, kind }: Field): string {
  const range = min !== undefined && max !== undefined ? `${min} to ${max}.` : ''
  const length = most === undefined ? '' : `At most ${most} characters.`
  const wont = usual === undefined || usual === '' || kind === 'switch' || kind === 'several' ? '' : `Default: ${usual}.`
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
  if (kind === 'several') return <Several {...props} options={options ?? []} />
  if (options) return <NativeSelect {...props} data={isRequired ? choose(options) : [...options]} />
  if (kind === 'long') return <Textarea {...props} maxLength={most} autosize minRows={3} maxRows={16} />
  return (
    <>
      <TextInput
        {...props} type={kind === 'moment' ? 'datetime-local' : kind} maxLength={most}
        {...(kind === 'number' && { min, max, step, inputMode: 'decimal' as const })} {...(list && { list })}
      />
      {list && <datalist id={list}>{suggestions.map((each) => <option key={each} value={each} />)}</datalist>}
    </>
  )
}

function Several ({ options, ...props }: { options: Options, label: string }) {
  return (
    <Checkbox.Group {...props}>
      <Group mt='xs'>
        {options.map((each) => {
          const { value, label } = typeof each === 'string' ? { value: each, label: plain(each) } : each
          return <Checkbox key={value} value={value} label={label} />
        })}
      </Group>
    </Checkbox.Group>
  )
}

const choose = (options: Options) => [{ value: '', label: 'Choose …' }, ...options]

export const Inputs = ({ fields, form }: { fields: readonly Field[], form: Form }) =>
  fields.map((field) => <Input key={field.name} field={field} form={form} />)
