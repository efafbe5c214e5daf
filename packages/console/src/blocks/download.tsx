// Files that the API makes. They need the token, so a link alone would not do.
import { Button } from '@mantine/core'
import { orThrow, type Answered } from '@ringledger/client'
import { useMutation } from '@tanstack/react-query'
import { inWords } from '../api.js'
import { notify } from './notices.js'

function saveFile (name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

interface DownloadProps {
  label: string
  file: string
  /** With `parseAs: 'blob'`. */
  ask: () => Promise<Answered<unknown>>
  /** Changes what was answered before it is kept. */
  change?: (content: Blob) => Promise<Blob>
}

export function Download ({ label, file, ask, change = async (content) => content }: DownloadProps) {
  const load = useMutation({
    mutationFn: async () => saveFile(file, await change(orThrow(await ask()) as Blob)),
    onError: (error) => notify(inWords(error), true)
  })
  return <Button variant='default' loading={load.isPending} onClick={() => load.mutate()}>{label}</Button>
}
