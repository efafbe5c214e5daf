// `ringledger api`, `projector` and `worker`: one role on back ends that are set, or on the running stack of DATA_DIR.
import type { Command } from 'commander'

const roles = [
  ['api', 'answers HTTP callers'],
  ['projector', 'builds the read models'],
  ['worker', 'delivers webhooks']
] as const

export function register (program: Command): void {
  for (const [role, what] of roles) {
    program.command(role).description(`run the role that ${what}`).action(() => serveRole(role))
  }
}

async function serveRole (role: typeof roles[number][0]): Promise<void> {
  const { serve } = await import('./serve.js')
  const { service: { url }, voice } = await serve('command', `ringledger ${role}`, [role])
  voice.say(`Ringledger ${role} is listening on ${url}`, { role, url })
}
