// Answers to what is no HTTP request, or one that never arrives whole: no route and no hook ever sees it.
import type { Socket } from 'node:net'
import type { FastifyServerOptions } from 'fastify'

type ConnectionError = Parameters<NonNullable<FastifyServerOptions['clientErrorHandler']>>[0]

const answers: Record<string, { status: string, message: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'The address and the headers of the request are too long.' }
}
const malformed = { status: '400 Bad Request', message: 'This is not a valid HTTP/1.1 request.' }

/** Writes `{message}` to the socket, as far as anybody still listens there, and ends the connection. */
export function answerMalformed (error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { status, message } = answers[error.code] ?? malformed
  const body = JSON.stringify({ message })
  if (socket.writable) {
    socket.write(`HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
  }
  socket.destroy(error)
}
