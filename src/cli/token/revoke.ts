// `ringledger token revoke`: ends a token before its time, in every process within a second.
import type { Command } from 'commander'
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

export async function revokeToken (jti: string, _own: object, command: Command): Promise<void> {
  const { json } = command.optsWithGlobals<{ json?: boolean }>() // `token` has it too, and takes what it knows
  const [{ digestOf }, { revokeNow }] = await Promise.all([
    import('../../http/auth/credentials.js'), import('./revoke-now.js')
  ])
  if (jti === '' || jti.length > 1_024) throw new Error('the jti must be 1 to 1024 characters')
  const isNew = await withConnections('ringledger token revoke', (connections) => revokeNow(connections, digestOf(jti)))
  if (json) printJson({ revoked: true, was_revoked: !isNew })
  else say(isNew ? 'The token is revoked.' : 'The token was revoked already.')
}
