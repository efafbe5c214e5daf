// `ringledger token`: makes a bearer token to try the API with.
import { Option, type Command } from 'commander'
import { printJson } from '../running/output.js'
import type { TokenRequest } from '../running/sign-token.js'
import { timeToLive } from '../values.js'
import { register as registerRevoke } from './revoke.js'

export function register (program: Command): void {
  const token = program.command('token')
    .description('make a bearer token, signed with JWT_SECRET, or revoke one; those of JWT_SECRET_PREVIOUS are still taken')
    .option('--user <id>', 'the user it acts for; required')
    .addOption(new Option('--role <role>', 'engine or ops; a caller has no role').choices(['engine', 'ops']))
    .option('--ttl <time>', 'how long it is good for, such as 15m, 1h or 30d', timeToLive, '1h')
    .option('--json', 'for programs')
    .action(printToken)
  registerRevoke(token)
}

interface TokenOptions extends Pick<TokenRequest, 'ttl' | 'role'> { user?: string, json?: boolean }

async function printToken ({ user, json, ...request }: TokenOptions): Promise<void> {
  const [{ readSettings }, { isSubject }, { completeConfig }, { signToken }] = await Promise.all([
    import('../read-settings.js'),
    import('../../http/auth/subject.js'),
    import('../running/complete-config.js'),
    import('../running/sign-token.js')
  ])
  if (user === undefined) throw new Error('--user is required: the user that the token acts for')
  if (!isSubject(user)) throw new Error('--user must be 1 to 128 printable characters')
  const config = readSettings()
  const jwt = config.jwt ?? (await completeConfig(config)).jwt
  const token = await signToken(jwt, { user, ...request })
  if (json) printJson({ token, user, role: request.role ?? null, ttl: request.ttl })
  else process.stdout.write(`${token}\n`)
}
