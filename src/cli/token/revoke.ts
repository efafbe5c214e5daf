// `ringledger token revoke`: ends a token before its time, in every process within a second.
import type { Command } from 'commander'
import { printJson, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (token: Command): void {
  token.command('revoke')
    .description('end a token before its time: it is refused within a second, and so is the session that it opened')
    .argument('<jti>', 'the claim jti of the token')
    .option('--json', 'for programs')
    .action(revokeToken)
}

async function revokeToken (jti: string, _own: object, command: Command): Promise<void> {
  const { json } = command.optsWithGlobals<{ json?: boolean }>() // `token` has it too, and takes what it knows
  const [{ digestOf }, { revokeNow }] = await Promise.all([
    import('../../http/auth/credentials.js'), import('./revoke-now.js')
  ])
  if (jti === '' || jti.length > 1_024) throw new Error('the jti must be 1 to 1024 characters')
  const isNew = await withConnections('ringledger token revoke', (connections) => revokeNow(connections, digestOf(jti)))
  if (json) printJson({ revoked: true, was_revoked: !isNew })
  else say(isNew ? 'The token is revoked.' : 'The token was revoked already.')
}
