// Who is signed in: a token or an API key, which is kept until the tab is closed, and forgotten when it is signed out.
import { useSyncExternalStore } from 'react'

export type Role = 'user' | 'ops'

export interface Person {
  role: Role
  /** Differs between people who may see different things. */
  id: string
  mayChange: boolean
}

interface Session {
  token: string | null
  /** Null until the API has said whose token it is. It stays when that expires: the page waits for them. */
  person: Person | null
  /** Why nobody is signed in, where somebody was. */
  ended: 'signed out' | 'expired' | null
}

const nobody: Session = { token: null, person: null, ended: null }
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
  else sessionStorage.setItem(key, JSON.stringify({ token: next.token, person: next.person }))
  for (const listener of listeners) listener()
}

export const signIn = (token: string, person: Person | null) => set({ token, person, ended: null })
export const signOut = () => set({ ...nobody, ended: 'signed out' })
/** Of a token that was refused; one that was replaced meanwhile changes nothing. */
export const expire = (token: string) => { if (token === session.token) set({ ...session, token: null, ended: 'expired' }) }
export const currentSession = () => session

export const useSession = () => useSyncExternalStore((listener) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}, currentSession)

export const useMayChange = () => useSession().person?.mayChange ?? false

/** A link signs in by `#token=…`. First of all the token leaves the address, and with it the history. */
export function takeTokenFromAddress (): void {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (token === undefined) return
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  dispatchEvent(new PopStateEvent('popstate')) // the router has seen the former address
  // Anybody can make a link: who is signed in stays so, unless they agree.
  const isFree = session.token === null || session.token === token
  if (isFree || confirm('You are signed in already. Sign out, and sign in by this link?')) signIn(token, null) // needs no escapes
}
