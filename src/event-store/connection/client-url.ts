// The URL of the event store as the client reads it.

/** What the client does when the URL does not say: an owner that tries again wants short tries. */
const usual = { maxDiscoverAttempts: 3, gossipTimeout: 2, keepAliveTimeout: 5_000 }

/** Without `throwOnAppendFailure` the client would answer a conflict like a success. */
export function clientUrl (eventStoreUrl: string): string {
  const [place = '', query = ''] = eventStoreUrl.replace(/^kurrentdb/, 'esdb').split('?', 2)
  const given = query.split('&').filter((option) => option !== '' && !/^throwOnAppendFailure=/i.test(option))
  const names = given.map((option) => option.split('=', 1)[0]?.toLowerCase())
  const added = Object.entries(usual).filter(([name]) => !names.includes(name.toLowerCase()))
  const options = [...given, ...added.map(([name, value]) => `${name}=${value}`), 'throwOnAppendFailure=true']
  return `${place}?${options.join('&')}`
}
