// Hears of every checkpoint that readers can see.
import { listenOn, type Listener, type ListenerOptions } from '../../../src/postgres/listen.js'
import { awaitedPayload, checkpointChannel } from '../../generations/readers.js'

type Listening = Pick<ListenerOptions, 'databaseUrl' | 'onListening' | 'onError' | 'heartbeatMs'>

export interface CheckpointListenerOptions extends Listening {
  /** `isWhole` unless an event of the projection is parked, or was skipped. */
  onCheckpoint (projection: string, position: bigint, isWhole: boolean): void
  /** The read models were dropped and begin anew: positions of before mean nothing. */
  onReplaced (): void
  /** Readers of some process wait, and none of the checkpoints has come as far. */
  onAwaited (): void
}

/** Listens until it is closed. */
export function listenForCheckpoints (
  { onCheckpoint, onReplaced, onAwaited, ...options }: CheckpointListenerOptions
): Listener {
  return listenOn({
    ...options,
    applicationName: 'ringledger positions',
    channel: checkpointChannel,
    onNotification (payload) {
      if (payload === 'replaced') return onReplaced()
      if (payload === awaitedPayload) return onAwaited()
      const [, projection, position, parked] = /^(\w+) (\d+)( parked)?$/.exec(payload) ?? []
      if (projection !== undefined && position !== undefined) {
        onCheckpoint(projection, BigInt(position), parked === undefined)
      }
    }
  })
}
