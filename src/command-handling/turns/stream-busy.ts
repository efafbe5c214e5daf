// The refusal of a command that waited too long for others.

/** How long a command waits for others, in milliseconds. */
export const waitMs = 5_000

/** Others kept the stream busy for too long; nothing was written. */
export class StreamBusy extends Error {
  override readonly name = 'StreamBusy'
  constructor (commandId: string) {
    super(`command ${commandId} waited for others for ${waitMs} ms`)
  }
}
