// What has just happened, said in a corner for a few seconds, and to readers of screens.
import { Affix, Notification, Stack } from '@mantine/core'
import { useSyncExternalStore } from 'react'

interface Notice { id: number, words: string, isError: boolean }

const shownMs = 6_000
const listeners = new Set<() => void>()
let notices: readonly Notice[] = []
let lastId = 0

function set (next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

const dismiss = (id: number) => set(notices.filter((notice) => notice.id !== id))

export function notify (words: string, isError = false): void {
  const id = ++lastId
  set([...notices.slice(-3), { id, words, isError }])
  setTimeout(() => dismiss(id), shownMs)
}

export function Notices () {
  const shown = useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, () => notices)
  return (
    <Affix position={{ bottom: 16, right: 16 }} zIndex={400} maw='calc(100vw - 32px)' role='status'>
      <Stack gap='xs'>
        {shown.map(({ id, words, isError }) => (
          <Notification
            key={id} color={isError ? 'red' : 'green'} withBorder onClose={() => dismiss(id)}
            closeButtonProps={{ 'aria-label': 'Close' }}
          >
            {words}
          </Notification>
        ))}
      </Stack>
    </Affix>
  )
}
