// Files that the API makes. They need the token, so a link alone would not do.
import { orThrow, type Answered } from '@ringledger/client'
import { Act } from './act.js'

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
  const load = async () => saveFile(file, await change(orThrow(await ask()) as Blob))
  return <Act label={label} changes={false} act={load} />
}
