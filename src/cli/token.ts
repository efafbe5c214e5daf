// `ringledger token`: makes a bearer token to try the API with.
import { Option, type Command } from 'commander'
import type { TokenRequest } from './running/sign-token.js'
import { timeToLive } from './values.js'

export function register (program: Command): void {
  program.command('token')
    .description('make a bearer token for an API that is set up with JWT_SECRET')
    .requiredOption('--user <id>', 'the user it acts for')
    .addOption(new Option('--role <role>', 'engine or ops; a caller has no role').choices(['engine', 'ops']))
    .option('--ttl <time>', 'how long it is good for, such as 15m, 1h or 30d', timeToLive, '1h')
    .action(printToken)
}

async function printToken (request: TokenRequest): Promise<void> {
  const [{ loadConfig }, { isSubject }, { completeConfig }, { signToken }] = await Promise.all([
    import('../config.js'),
    import('../http/auth/subject.js'),
    import('./running/complete-config.js'),
    import('./running/sign-token.js')
  ])
  if (!isSubject(request.user)) throw new Error('--user must be 1 to 128 printable characters')
  const { jwt } = await completeConfig(loadConfig(process.env))
  process.stdout.write(`${await signToken(jwt, request)}\n`)
}
