// A button that acts at once. What it fails with is said in a corner.
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { inWords } from '../api.js'
import { notify } from './notices.js'

export function Act ({ label, act }: { label: string, act: () => Promise<unknown> }) {
  const { mutate, isPending } = useMutation({ mutationFn: act, onError: (error) => notify(inWords(error), true) })
  return <Button variant='default' loading={isPending} onClick={() => mutate()}>{label}</Button>
}
