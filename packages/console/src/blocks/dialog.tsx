// A dialog with a title and a way out, which comes last: the focus begins at the first field, or at
// Cancel. Mantine's own has a header, which readers of screens take for that of the page.
import { Modal } from '@mantine/core'
import { useEffect, type ReactNode } from 'react'
import { useSession } from '../session.js'
import { focusHeading } from './page.js'

/** Where they lie: below the sign-in, as their page does. */
export const dialogs = 'dialogs'

interface DialogProps { title: string, isOpen: boolean, close: () => void, children: ReactNode }

export function Dialog ({ title, isOpen, close, children }: DialogProps) {
  const { token } = useSession()
  return (
    <Modal.Root opened={isOpen} onClose={close} portalProps={{ target: `#${dialogs}` }} closeOnEscape={token !== null}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Title fw={600} p='md' pe={48}>{title}</Modal.Title>
        <Modal.Body><Inside>{children}</Inside></Modal.Body>
        <Modal.CloseButton aria-label='Close' pos='absolute' top={14} right={12} />
      </Modal.Content>
    </Modal.Root>
  )
}

/** Mantine waits for 10 ms before it gives the focus back. */
const afterMantineMs = 50

/** When it closes the focus goes back to the button that opened it, or to the heading where that is gone. */
function Inside ({ children }: { children: ReactNode }) {
  useEffect(() => () => {
    setTimeout(() => {
      if (document.activeElement === document.body) focusHeading({ preventScroll: true })
    }, afterMantineMs)
  }, [])
  return children
}
