// `ringledger api`, `projector` and `worker`: one role on back ends that are set, or on the running stack of DATA_DIR.
import type { Role } from '../services/role.js'
import { serve } from './serve.js'

export async function serveRole (role: Role): Promise<void> {
  const { service: { url }, voice } = await serve('command', `ringledger ${role}`, [role])
  voice.say(`Ringledger ${role} is listening on ${url}`, { role, url })
}
