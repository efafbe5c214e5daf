// Small things to read: times, states, and what users have written.
import { Anchor, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'

/** Text of a user: it may be long, or run from right to left, and must not push the rest aside. */
export const Said = ({ children }: { children: ReactNode }) => <bdi className='said'>{children}</bdi>

export function To ({ to, children }: { to: string, children: ReactNode }) {
  return <Anchor component={Link} to={to} className='said' dir='auto' inherit>{children}</Anchor>
}

const format = new Intl.DateTimeFormat(undefined, {
  year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short'
})
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const units = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]] as const

/** Times of leads are in UTC, and do not say so. */
const instantOf = (text: string) => new Date(/^[-\d]+ [:\d]+$/.test(text) ? `${text.replace(' ', 'T')}Z` : text)

/** In the zone of the viewer, which it names. */
export const timeText = (at: string) => format.format(instantOf(at))

export function Time ({ at }: { at: string | null | undefined }) {
  if (!at) return '–'
  const iso = instantOf(at).toISOString()
  return <time dateTime={iso} title={iso}>{timeText(at)}</time>
}

/** Text of the API that names instants. */
export const inZone = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, timeText)

/** Such as "in 4 minutes" and "2 hours ago". */
export function fromNow (at: string): string {
  const seconds = Math.round((instantOf(at).getTime() - Date.now()) / 1_000)
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units[3]
  return relative.format(Math.trunc(seconds / size), unit)
}

/** `reached-max-retries` as people write it. */
export const plain = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).replaceAll(/[-_]/g, ' ')

/** Text of the API for the command line: what is a command there is a button here. */
export const withButtons = (text: string) => text.replaceAll(/`ringledger projections (quarantine )?(\w+) \w+`/g,
  (_, ofBreaker: string | undefined, action: string) => ofBreaker ? '“Let it go on”' : `“${plain(action)}”`)

/** What the API says of a field. */
export const inSentences = (reasons?: string[]) => reasons?.map(plain).join('. ')

const colours: Record<string, string> = {
  active: 'green',
  completed: 'green',
  delivered: 'green',
  on: 'green',
  created: 'blue',
  scheduled: 'blue',
  processing: 'blue',
  exhausted: 'red',
  failed: 'red',
  suspended: 'red',
  invalid: 'red',
  held: 'orange',
  paused: 'orange',
  blacklisted: 'orange'
}

/** A state, in a colour that its word does not need. */
export function State ({ children, colour }: { children: string, colour?: string }) {
  return <span className='state' data-colour={colour ?? colours[children]}>{plain(children)}</span>
}

export const Dim = ({ children }: { children: ReactNode }) => <Text component='span' size='sm' className='dim'>{children}</Text>

/** Text that a machine wrote. It scrolls where it is long, also by keyboard. */
export const Code = ({ label, children }: { label: string, children: string }) =>
  <pre className='code' role='region' aria-label={label} tabIndex={0}>{children}</pre>
