// Who is signed in: a token or an API key, which is kept until the tab is closed, and forgotten when it is signed out.
import { useSyncExternalStore } from 'react'

export type Role = 'user' | 'ops'

interface Session {
  token: string | null
  /** Null while nobody is signed in, and until the API has said whose token it is. */
  role: Role | null
  /** Why nobody is signed in, where somebody was. */
  ended: 'signed out' | 'expired' | null
}

const nobody: Session = { token: null, role: null, ended: null }
const key = 'ringledger'
const listeners = new Set<() => void>()
let session = stored()

function stored (): Session {
  const text = sessionStorage.getItem(key)
  return text === null ? nobody : { ...nobody, ...JSON.parse(text) as Partial<Session> }
}

function set (next: Session): void {
  session = next
  if (next.token === null) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, JSON.stringify({ token: next.token, role: next.role }))
  for (const listener of listeners) listener()
}

export const signIn = (token: string, role: Role | null) => set({ token, role, ended: null })
export const signOut = () => set({ ...nobody, ended: 'signed out' })
/** Of a token that was refused; one that was replaced meanwhile changes nothing. */
export const expire = (token: string) => { if (token === session.token) set({ ...nobody, ended: 'expired' }) }
export const currentSession = () => session

export const useSession = () => useSyncExternalStore((listener) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}, currentSession)

/** A link signs in by `#token=…`. First of all the token leaves the address, and with it the history. */
export function takeTokenFromAddress (): void {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (token === undefined) return
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  dispatchEvent(new PopStateEvent('popstate')) // the router has seen the former address
  signIn(token, null) // tokens and keys need no escapes
}
