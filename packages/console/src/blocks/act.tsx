// A button that acts at once. What it fails with is said in a corner.
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { inWords } from '../api.js'
import { useMayChange } from '../session.js'
import { notify } from './notices.js'

interface ActProps { label: string, act: () => Promise<unknown>, changes?: boolean, disabled?: boolean }

export function Act ({ label, act, changes = true, disabled = false }: ActProps) {
  const mayChange = useMayChange()
  const { mutate, isPending } = useMutation({ mutationFn: act, onError: (error) => notify(inWords(error), true) })
  return (
    <Button variant='default' loading={isPending} disabled={disabled || (changes && !mayChange)} onClick={() => mutate()}>
      {label}
    </Button>
  )
}
