// A button that opens a small form.
import { Text } from '@mantine/core'
import type { Answered } from '@ringledger/client'
import type { ReactNode } from 'react'
import { DialogButton, type Opener } from './dialog.js'
import { ApiForm, given, Inputs, shown, type Field } from './form.js'

interface FormDialogProps<Body, Data> extends Pick<Opener, 'label' | 'of'> {
  words?: ReactNode
  /** They declare what `Body` has; the API checks it. */
  fields: readonly Field[]
  save: (body: Body) => Promise<Answered<Data>>
  saved?: (data: Data) => void
  said?: string
  isMain?: boolean
}

export function FormDialog<Body, Data> (
  { label, of, words, fields, save, saved, said, isMain = false }: FormDialogProps<Body, Data>
) {
  return (
    <DialogButton label={label} of={of} variant={isMain ? 'filled' : 'default'}>
      {(close) => (
        <>
          {words && <Text component='div' mb='md'>{words}</Text>}
          <ApiForm
            initial={shown(fields)} save={(inputs) => save(given(fields, inputs))} button={label}
            saved={(data) => {
              close()
              saved?.(data)
            }}
            {...(said !== undefined && { said })}
          >
            {(form) => <Inputs fields={fields} form={form} />}
          </ApiForm>
        </>
      )}
    </DialogButton>
  )
}
