// A dialog with a title and a way out. Mantine's own has a header, which readers of screens take for that of the page.
import { Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface DialogProps { title: string, isOpen: boolean, close: () => void, children: ReactNode }

export function Dialog ({ title, isOpen, close, children }: DialogProps) {
  return (
    <Modal.Root opened={isOpen} onClose={close}>
      <Modal.Overlay />
      <Modal.Content>
        <Group p='md' justify='space-between' wrap='nowrap'>
          <Modal.Title fw={600}>{title}</Modal.Title>
          <Modal.CloseButton aria-label='Close' />
        </Group>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
