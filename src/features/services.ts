// What routes of every feature work with. A feature adds what it alone needs.
import type { HandleRoute } from '../http/command-route.js'
import type { Positions } from '../../projections/engine/positions.js'
import type { Services } from '../services/services.js'

export interface RouteServices {
  handle: HandleRoute
  pool: Services['connections']['pool']
  positions: Positions
}
