// What routes of every feature work with. A feature adds what it alone needs.
import type { WaitIfMissing } from '../commands/wait-if-missing.js'
import type { HandleRoute } from '../http/command-route.js'
import type { ReadPositions } from '../http/read-position.js'
import type { Services } from '../services/services.js'

export interface RouteServices {
  handle: HandleRoute
  pool: Services['connections']['pool']
  readPositions: ReadPositions
  /** Looks up a fact for a command: what is missing then was not in the log when it was asked. */
  known: WaitIfMissing
}
