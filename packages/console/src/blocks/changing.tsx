// A form of something that others may change meanwhile: it stays with what it began with until somebody asks for what
// that is now. What was typed is kept then.
import { Alert, Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'

interface ChangingProps<Found> {
  found: Found
  /** What `If-Match` is about. */
  tagOf: (found: Found) => string | number
  /** What the form shows of it. */
  contentOf: (found: Found) => unknown
  children: (shown: Found, saved: () => void) => ReactNode
}

export function Changing<Found> ({ found, tagOf, contentOf, children }: ChangingProps<Found>) {
  const [shown, setShown] = useState(found)
  const [hasSaved, setSaved] = useState(false)
  const isNewer = tagOf(found) !== tagOf(shown)
  const isSame = JSON.stringify(contentOf(found)) === JSON.stringify(contentOf(shown))
  if (isNewer && (isSame || hasSaved)) {
    setSaved(false)
    setShown(found)
  }
  return (
    <>
      {isNewer && !isSame && !hasSaved && (
        <Alert
          color='orange' variant='outline' role='status' title='Somebody has changed this meanwhile.'
          my='sm' pos='sticky' top={64} bg='var(--mantine-color-body)' className='above'
        >
          <Button variant='default' size='xs' onClick={() => setShown(found)}>Load what it is now</Button>{' '}
          What you have typed stays.
        </Alert>
      )}
      {children(shown, () => setSaved(true))}
    </>
  )
}
