// What a route does that changes the delivery log and writes no event: safe to retry, all or nothing.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LedgerCommand, LedgerCommands } from '../commands/idempotency/ledger-commands.js'
import { claimOf } from './command-route.js'

/** Runs the command of one request and gives the body of its answer. @throws KeyInFlight, Rejection */
export type HandleLedger = ReturnType<typeof ledgerRoutes>

export function ledgerRoutes (commands: LedgerCommands) {
  return async function handle<Facts, Body> (
    request: FastifyRequest, reply: FastifyReply, command: LedgerCommand<Facts, Body>
  ): Promise<Body> {
    const { status, body, isReplay } = await commands.once(claimOf(request), command)
    if (isReplay) reply.header('idempotent-replayed', 'true')
    reply.code(status)
    return body
  }
}

/** Of a command that needs nothing beforehand. */
export const nothing = async () => undefined
