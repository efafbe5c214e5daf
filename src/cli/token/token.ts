// `ringledger token`: makes a bearer token to try the API with.
import { Option, type Command } from 'commander'
import type { TokenRequest } from '../running/sign-token.js'
import { timeToLive } from '../values.js'
import { register as registerRevoke } from './revoke.js'

export function register (program: Command): void {
  const token = program.command('token')
    .description('make a bearer token for an API that is set up with JWT_SECRET, or revoke one')
    .option('--user <id>', 'the user it acts for; required')
    .addOption(new Option('--role <role>', 'engine or ops; a caller has no role').choices(['engine', 'ops']))
    .option('--ttl <time>', 'how long it is good for, such as 15m, 1h or 30d', timeToLive, '1h')
    .action(printToken)
  registerRevoke(token)
}

async function printToken ({ user, ...request }: Partial<TokenRequest> & Pick<TokenRequest, 'ttl'>): Promise<void> {
  const [{ readSettings }, { isSubject }, { completeConfig }, { signToken }] = await Promise.all([
    import('../read-settings.js'),
    import('../../http/auth/subject.js'),
    import('../running/complete-config.js'),
    import('../running/sign-token.js')
  ])
  if (user === undefined) throw new Error('--user is required: the user that the token acts for')
  if (!isSubject(user)) throw new Error('--user must be 1 to 128 printable characters')
  const { jwt } = await completeConfig(readSettings())
  process.stdout.write(`${await signToken(jwt, { user, ...request })}\n`)
}
