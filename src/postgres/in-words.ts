// Explains errors of Postgres and of DATABASE_URL at a start, and how to fix them.

/** Undefined when all we know is that Postgres did not answer. */
export function postgresProblem (error: unknown): string | undefined {
  const found = firstWithCode(error)
  if (found === undefined) return undefined
  const { code, message } = found
  const [, words] = problems.find(([when]) => when.test(code) || when.test(message)) ?? []
  return words?.replace('MESSAGE', () => message.replace(/\.$/, ''))
}

/**
 * Matched by SQLSTATE, socket error code, or the driver's message, as the driver has no code for some. The first match
 * counts. MESSAGE stands for the original message.
 */
const problems: Array<[when: RegExp, words: string]> = [
  [/^28P01$/,
    'Postgres refuses the login of DATABASE_URL: MESSAGE. Set the user and the password that it knows; in a URL, ' +
    'characters such as @ / # stand as %40 %2F %23.'],
  [/^SASL: .*password must be a/,
    'Postgres asks for a password, and DATABASE_URL has none. Write it as postgres://user:password@host:5432/database.'],
  [/^no pg_hba.conf entry.*no encryption$/,
    'Postgres lets no such connection in: MESSAGE. Where it asks for TLS, add ?sslmode=verify-full to DATABASE_URL; else ' +
    'add a line for this host, user and database to pg_hba.conf.'],
  [/^no pg_hba.conf entry/,
    'Postgres lets no such connection in: MESSAGE. Add a line for this host, user and database to pg_hba.conf.'],
  [/^28000$/,
    'Postgres refuses the login of DATABASE_URL: MESSAGE. Name a role there that may log in: CREATE ROLE … LOGIN ' +
    'PASSWORD … makes one.'],
  [/^3D000$/,
    'Postgres has no such database: MESSAGE. Make it with CREATE DATABASE … OWNER …, or name another one in DATABASE_URL.'],
  [/^42501$/,
    'The role of DATABASE_URL may not do that: MESSAGE. Let it own the database and what is in there, with ALTER DATABASE ' +
    '… OWNER TO …: docs/operations.md says what else than the owner of its database will do.'],
  [/^53300$/,
    'Postgres has no connection left: MESSAGE. Raise max_connections, or the limit of the role and the database in ' +
    'DATABASE_URL, or run fewer processes; docs/operations.md says how many each takes.'],
  [/^RL001$/,
    'Postgres is too old: MESSAGE. Move to Postgres 14 or later, and let DATABASE_URL lead to that.'],
  [/default_transaction_read_only/,
    'Postgres takes no writes: MESSAGE. Switch it off for the role and the database of DATABASE_URL.'],
  [/^25006$/,
    'Postgres takes no writes: MESSAGE. Let DATABASE_URL lead to the primary.'],
  [/^57P03$/, 'Postgres is not ready: MESSAGE. Wait until it is, and start again.'],
  [/unsupported startup parameter|what is notified does not arrive/,
    'A pooler stands before Postgres: MESSAGE. Let DATABASE_URL lead to Postgres itself: LISTEN does not pass a pooler.'],
  [/does not support SSL connections/,
    'Postgres takes no TLS, and DATABASE_URL asks for it. Remove sslmode from it, or set ssl = on in postgresql.conf.'],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT)/,
    'The certificate of Postgres is not trusted: MESSAGE. Name its CA with sslrootcert=FILE in DATABASE_URL, and the host ' +
    'as the certificate does.'],
  [/^(ENOTFOUND|EAI_AGAIN)$/,
    'The host of Postgres was not found: MESSAGE. Check how DATABASE_URL spells it, and the name server of this machine.'],
  [/^(ENOENT|EACCES|EISDIR)\b.* (open|read)\b/,
    'A file that DATABASE_URL names cannot be read: MESSAGE. Set sslrootcert, sslcert and sslkey to files that this ' +
    'process may read.'],
  [/^(ECONNREFUSED|ENOENT)$/,
    'Postgres did not answer: MESSAGE: nothing listens there. Check that it runs and that DATABASE_URL leads to it.']
]

/** Searches the error, its causes, and the errors for each address of a host. */
function firstWithCode (error: unknown): { code: string, message: string } | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AggregateError && error.errors.length > 0) return firstOfSeveral(error.errors)
  const code = 'code' in error ? String(error.code) : ''
  const own = { code, message: error.message }
  if (problems.some(([when]) => when.test(code) || when.test(error.message))) return own
  return firstWithCode(error.cause)
}

function firstOfSeveral (errors: unknown[]): { code: string, message: string } | undefined {
  const found = errors.map(firstWithCode).filter((each) => each !== undefined)
  const [first] = found
  return first && { code: first.code, message: found.map(({ message }) => message).join(', ') }
}

export const isOfPostgres = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code))
