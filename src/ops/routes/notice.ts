// What became of a form, told once on the page that is shown after it.
import type { FastifyReply, FastifyRequest } from 'fastify'

const name = 'ringledger_ops_notice'
const keptSeconds = 60
/** Browsers keep 4 KiB of a cookie. */
const longest = 1_000

/** A page after a form, so that to load it again sends nothing again. */
export async function tell (reply: FastifyReply, root: string, to: string, notice: string): Promise<FastifyReply> {
  const value = notice.slice(0, longest).toWellFormed()
  reply.setCookie(name, value, { path: root, httpOnly: true, sameSite: 'strict', maxAge: keptSeconds })
  return await reply.redirect(to, 303)
}

export function noticeOf (request: FastifyRequest, reply: FastifyReply, root: string): string | undefined {
  const notice = request.cookies[name]
  if (notice !== undefined) reply.clearCookie(name, { path: root })
  return notice
}
