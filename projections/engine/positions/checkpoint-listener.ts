// Hears of every checkpoint that readers can see, and of readers who wait.
import type { Listener, Notifications } from '../../../src/postgres/notifications/notifications.js'
import { awaitedChannel, checkpointChannel } from '../../generations/readers.js'

export interface CheckpointListenerOptions {
  /** `isWhole` unless an event of the projection is parked, or was skipped. */
  onCheckpoint (projection: string, position: bigint, isWhole: boolean): void
  /** The read models were dropped and begin anew: positions of before mean nothing. */
  onReplaced (): void
  onListening (): void
}

/** Listens until it is closed. */
export function listenForCheckpoints (
  notifications: Notifications, { onCheckpoint, onReplaced, onListening }: CheckpointListenerOptions
): Listener {
  return notifications.listen(checkpointChannel, {
    onListening,
    onNotification (payload) {
      if (payload === 'replaced') return onReplaced()
      const [, projection, position, parked] = /^(\w+) (\d+)( parked)?$/.exec(payload) ?? []
      if (projection !== undefined && position !== undefined) {
        onCheckpoint(projection, BigInt(position), parked === undefined)
      }
    }
  })
}

/** Hears when readers of any process wait for a projection that may have missed the notification. */
export const listenForWaiting = (notifications: Notifications, onAwaited: () => void): Listener =>
  notifications.listen(awaitedChannel, { onListening () {}, onNotification: onAwaited })
