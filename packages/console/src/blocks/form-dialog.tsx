// A button that opens a small form.
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Answered } from '@ringledger/client'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.js'
import { ApiForm, given, Inputs, shown, type Field, type Values } from './form.js'

interface FormDialogProps<Data> {
  /** On the button that opens it, and on the one that sends it. */
  label: string
  words?: ReactNode
  fields: readonly Field[]
  values?: object
  save: (body: Values) => Promise<Answered<Data>>
  saved?: (data: Data) => void
  said?: string
  isMain?: boolean
}

export function FormDialog<Data> (
  { label, words, fields, values, save, saved, said, isMain = false }: FormDialogProps<Data>
) {
  const [isOpen, { open, close }] = useDisclosure()
  const done = (data: Data) => {
    close()
    saved?.(data)
  }
  return (
    <>
      <Button variant={isMain ? 'filled' : 'default'} onClick={open}>{label}</Button>
      <Dialog title={label} isOpen={isOpen} close={close}>
        {words && <Text component='div' mb='md'>{words}</Text>}
        <ApiForm
          initial={shown(fields, values)} save={(inputs) => save(given(fields, inputs))} saved={done} button={label}
          {...(said !== undefined && { said })}
        >
          {(form) => <Inputs fields={fields} form={form} />}
        </ApiForm>
      </Dialog>
    </>
  )
}
