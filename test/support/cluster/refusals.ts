// How members of a cluster refuse calls: codes, words and trailers as servers send them.
import * as grpc from '@grpc/grpc-js'
import type { CallKind, Denial, Ways } from './ways.js'

/** Why a member does not take a call, if so. */
export function refusalBy (member: Ways, kind: CallKind, headers: grpc.Metadata): grpc.ServiceError | undefined {
  if (!letsIn(member, headers)) return denied('UNAUTHENTICATED')
  const denial = member.denied[kind]
  const isToldInReply = kind === 'append' && denial === 'PERMISSION_DENIED'
  if (denial && !isToldInReply) return denied(denial)
  const needsLeader = headers.get('requires-leader').includes('true')
  if (member.role === 'leader' || !needsLeader) return undefined
  const leader = member.members.find(({ role }) => role === 'leader')
  return leader && member.role === 'follower' ? notLeader('127.0.0.1', leader.port) : notReady()
}

function letsIn ({ login }: Ways, headers: grpc.Metadata): boolean {
  if (login === undefined) return true
  return headers.get('authorization').includes(`Basic ${Buffer.from(login).toString('base64')}`)
}

export const notReady = () => refusal(grpc.status.UNAVAILABLE, 'Server Is Not Ready')

/** A member that follows names the one that leads. */
function notLeader (host: string, port: number): grpc.ServiceError {
  return refusal(grpc.status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader', 'leader-endpoint-host': host, 'leader-endpoint-port': String(port)
  })
}

export function denied (code: Denial): grpc.ServiceError {
  if (code === 'UNAUTHENTICATED') return refusal(grpc.status.UNAUTHENTICATED, '')
  return refusal(grpc.status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' })
}

export function refusal (
  code: grpc.status, details: string, trailers: Record<string, string> = {}
): grpc.ServiceError {
  const metadata = new grpc.Metadata()
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value)
  return Object.assign(new Error(details), { code, details, metadata })
}
