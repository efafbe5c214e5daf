// A button that opens a small form.
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Answered } from '@ringledger/client'
import type { ReactNode } from 'react'
import { useMayChange } from '../session.js'
import { Dialog } from './dialog.js'
import { ApiForm, given, Inputs, shown, type Field } from './form.js'

interface FormDialogProps<Body, Data> {
  /** On the button that opens it, and on the one that sends it. */
  label: string
  /** As of `Confirm`. */
  of?: string
  words?: ReactNode
  /** They declare what `Body` has; the API checks it. */
  fields: readonly Field[]
  values?: object
  save: (body: Body) => Promise<Answered<Data>>
  saved?: (data: Data) => void
  said?: string
  isMain?: boolean
}

export function FormDialog<Body, Data> (
  { label, of, words, fields, values, save, saved, said, isMain = false }: FormDialogProps<Body, Data>
) {
  const [isOpen, { open, close }] = useDisclosure()
  const done = (data: Data) => {
    close()
    saved?.(data)
  }
  return (
    <>
      <Button variant={isMain ? 'filled' : 'default'} aria-label={of && `${label} ${of}`} disabled={!useMayChange()} onClick={open}>{label}</Button>
      <Dialog title={label} isOpen={isOpen} close={close}>
        {words && <Text component='div' mb='md'>{words}</Text>}
        <ApiForm
          initial={shown(fields, values)} save={(inputs) => save(given(fields, inputs) as Body)} saved={done}
          button={label} {...(said !== undefined && { said })}
        >
          {(form) => <Inputs fields={fields} form={form} />}
        </ApiForm>
      </Dialog>
    </>
  )
}
