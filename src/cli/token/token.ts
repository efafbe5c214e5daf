// `ringledger token`: makes a bearer token to try the API with.
import { printJson } from '../output.js'
import type { TokenRequest } from '../running/sign-token.js'

interface TokenOptions extends Pick<TokenRequest, 'ttl' | 'role'> { user?: string, json?: boolean }

export async function printToken ({ user, json, ...request }: TokenOptions): Promise<void> {
  const [{ readSettings }, { isSubject }, { completeConfig }, { signToken }] = await Promise.all([
    import('../running.js'),
    import('../../http/auth/subject.js'),
    import('../running.js'),
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
