// Whole streams are read a few at once for each user: one with many large events is the work of seconds.
import { Shares } from './shares.js'
import { StreamBusy, waitMs } from './stream-busy.js'

const mostOfUser = 3

export class WholeStreams {
  readonly #reading = new Shares(mostOfUser, waitMs)

  /** Reads in the user's turn. @throws StreamBusy when the user's other streams take too long */
  async inTurn<Result> (
    { userId = '', commandId }: { userId?: string | undefined, commandId: string }, read: () => Promise<Result>
  ): Promise<Result> {
    const release = await this.#reading.acquire(userId)
    if (!release) throw new StreamBusy(commandId)
    return await read().finally(release)
  }
}
