// Lets a call send ahead: grpc-js waits for each message to reach the socket before it takes the
// next one; here the next may follow at once, so that many small messages share one write.
import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'

/** How many bytes of one call may be on their way; beyond that its writer waits, and `write` says so. */
const window = 128 * 1024
/** What a message counts for whose size is not known yet. */
const assumedSize = 512

class SendAheadCall extends ServerInterceptingCall {
  #underWay = 0
  #waiting: Array<() => void> = []

  override sendMessage (message: unknown, callback: () => void): void {
    const size = Buffer.isBuffer(message) ? message.length : assumedSize
    this.#underWay += size
    super.sendMessage(message, () => {
      this.#underWay -= size
      if (this.#underWay < window) for (const proceed of this.#waiting.splice(0)) proceed()
    })
    if (this.#underWay < window) callback()
    else this.#waiting.push(callback)
  }
}

export const sendAhead: ServerInterceptor = (_method, call) => new SendAheadCall(call)
