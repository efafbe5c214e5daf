// A dialog with a title and a way out, which comes last: the focus begins at the first field, or at
// Cancel. Mantine's own has a header, which readers of screens take for that of the page.
import { Button, Modal, type ButtonProps } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect, type ReactNode } from 'react'
import { useMayChange, useSession } from '../session.js'
import { focusHeading } from './page.js'

/** Where they lie: below the sign-in, as their page does. */
export const dialogs = 'dialogs'

export interface Opener extends ButtonProps {
  /** On the button that opens the dialog, above it, and on the one in it that acts. */
  label: string
  /** Where there are several such buttons: which row this one is of. */
  of?: string | undefined
}

interface DialogButtonProps extends Omit<Opener, 'children'> { children: (close: () => void) => ReactNode }

/** A button that opens a dialog, which begins anew each time. */
export function DialogButton ({ label, of, disabled = false, children, ...button }: DialogButtonProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const isOff = !useMayChange() || disabled
  return (
    <>
      <Button variant='default' {...button} aria-label={of && `${label} ${of}`} disabled={isOff} onClick={open}>
        {label}
      </Button>
      <Dialog title={label} isOpen={isOpen} close={close}>{children(close)}</Dialog>
    </>
  )
}

interface DialogProps { title: string, isOpen: boolean, close: () => void, children: ReactNode }

function Dialog ({ title, isOpen, close, children }: DialogProps) {
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
