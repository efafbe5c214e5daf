// What a browser may do with a page: show it with our style and our one script, send its forms here, nothing else.
import type { FastifyReply } from 'fastify'

const policy = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
  "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"
].join('; ')

/** Marks an answer as a page. */
export const asPage = (reply: FastifyReply): FastifyReply =>
  reply.header('content-security-policy', policy).type('text/html; charset=utf-8')

export const sendPage = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  asPage(reply).code(status).send(text)
