// Every projection of the read model, in the order in which commands list them.
import { assistants } from './assistants.js'
import { calls } from './calls.js'
import { catalog } from './catalog.js'
import type { Projection } from './engine/projection.js'
import { keys } from './keys.js'
import { leads } from './leads.js'

export const projections: readonly Projection[] = [assistants, leads, calls, catalog, keys]
