// What Postgres and the way to it say at a start, in words, with what mends it.

/** Of `setting`, the URL that leads there. Nothing where we know no more than that it did not answer. */
export function postgresProblem (error: unknown, setting: string): string | undefined {
  const found = firstWithCode(error)
  if (found === undefined) return undefined
  const { code, message } = found
  const [, words] = problems.find(([when]) => when.test(code) || when.test(message)) ?? []
  return words?.(message.replace(/\.$/, ''), setting)
}

type Words = (message: string, setting: string) => string

/** By SQLSTATE, by the code of a socket, or by words of the driver, which has no code for all. The first one counts. */
const problems: Array<[when: RegExp, words: Words]> = [
  [/^28P01$/, (message, setting) =>
    `Postgres refuses the login of ${setting}: ${message}. Set the user and the password that it knows; in a URL, ` +
    'characters such as @ / # stand as %40 %2F %23.'],
  [/^SASL: .*password must be a/, (_, setting) =>
    `Postgres asks for a password, and ${setting} has none. Write it as postgres://user:password@host:5432/database.`],
  [/^no pg_hba.conf entry.*no encryption$/, (message, setting) =>
    `Postgres lets no such connection in: ${message}. Where it asks for TLS, add ?sslmode=verify-full to ${setting}; else ` +
    'add a line for this host, user and database to pg_hba.conf.'],
  [/^no pg_hba.conf entry/, (message) =>
    `Postgres lets no such connection in: ${message}. Add a line for this host, user and database to pg_hba.conf.`],
  [/^28000$/, (message, setting) =>
    `Postgres refuses the login of ${setting}: ${message}. Name a role there that may log in: CREATE ROLE … LOGIN ` +
    'PASSWORD … makes one.'],
  [/^3D000$/, (message, setting) =>
    `Postgres has no such database: ${message}. Make it with CREATE DATABASE … OWNER …, or name another one in ${setting}.`],
  [/^42501$/, (message, setting) =>
    `The role of ${setting} may not do that: ${message}. Let it own the database and what is in there, with ALTER DATABASE ` +
    '… OWNER TO …: docs/operations.md says what else than the owner of its database will do.'],
  [/^53300$/, (message, setting) =>
    `Postgres has no connection left: ${message}. Raise max_connections, or the limit of the role and the database in ` +
    `${setting}, or run fewer processes; docs/operations.md says how many each takes.`],
  [/^RL001$/, (message, setting) =>
    `Postgres is too old: ${message}. Move to Postgres 14 or later, and let ${setting} lead to that.`],
  [/default_transaction_read_only/, (message, setting) =>
    `Postgres takes no writes: ${message}. Switch it off for the role and the database of ${setting}.`],
  [/^25006$/, (message, setting) =>
    `Postgres takes no writes: ${message}. Let ${setting} lead to the primary.`],
  [/^57P03$/, (message) => `Postgres is not ready: ${message}. Wait until it is, and start again.`],
  [/unsupported startup parameter|what is notified does not arrive/, (message, setting) =>
    `A pooler stands before Postgres: ${message}. Let ${setting} lead to Postgres itself: LISTEN does not pass a pooler.`],
  [/does not support SSL connections/, (_, setting) =>
    `Postgres takes no TLS, and ${setting} asks for it. Remove sslmode from it, or set ssl = on in postgresql.conf.`],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT)/, (message, setting) =>
    `The certificate of Postgres is not trusted: ${message}. Name its CA with sslrootcert=FILE in ${setting}, and the host ` +
    'as the certificate does.'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, (message, setting) =>
    `The host of Postgres was not found: ${message}. Check how ${setting} spells it, and the name server of this machine.`],
  [/^(ENOENT|EACCES|EISDIR)\b.* (open|read)\b/, (message, setting) =>
    `A file that ${setting} names cannot be read: ${message}. Set sslrootcert, sslcert and sslkey to files that this ` +
    'process may read.'],
  [/^(ECONNREFUSED|ENOENT)$/, (message, setting) =>
    `Postgres did not answer: ${message}: nothing listens there. Check that it runs and that ${setting} leads to it.`]
]

/** The error itself, one that it was made of, or one for an address of a host that has several. */
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

/** An error that Postgres itself has sent. */
export const isOfPostgres = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code))
