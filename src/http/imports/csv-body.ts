// Bodies of CSV, which are handed on unread to the routes that take them.
import type { FastifyRequest } from 'fastify'
import type { App } from '../app-types.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads `text/csv` as a stream. */
    takesCsv?: boolean
  }
}

/** @throws an error with status 415 on routes that take none, or in another charset than UTF-8 or UTF-16 */
export function takeCsvWhereWanted (app: App): void {
  app.addContentTypeParser('text/csv', (request, payload, done) => {
    const { config } = request.routeOptions
    const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8'
    if (config.takesCsv && /^utf-?(8|16(le|be)?)$/i.test(charset)) return done(null, payload)
    done(Object.assign(new Error(`CSV is not taken here, or not in ${charset}`), { statusCode: 415 }))
  })
}

export const isCsv = ({ headers }: Pick<FastifyRequest, 'headers'>) => /^\s*text\/csv\s*(;|$)/i.test(headers['content-type'] ?? '')
