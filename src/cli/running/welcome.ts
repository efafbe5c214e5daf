// What `ringledger start` prints on a terminal: where it listens, and commands to try it with.
import type { CompleteConfig } from '../../services/complete-config.js'
import { customer, customerNumber, frontDesk } from '../../domain/examples.js'
import { packageVersion } from '../../package-root.js'
import { signToken } from '../token.js'

/** Where things are; those of embedded back ends are absent where others are set. */
export interface Places {
  /** With BASE_PATH. */
  url: string
  docs: string
  operate: string
  /** For programs that append, such as a call engine. */
  events?: string
  /** The folder of embedded data. */
  data?: string
}

export function placesOf (
  url: string, { basePath }: CompleteConfig,
  embedded: { folder?: string | undefined, eventStoreUrl?: string | undefined }
): Places {
  const base = `${url}${basePath}`
  return {
    url: base,
    docs: `${base}/docs`,
    operate: `${base}/ops`,
    ...(embedded.eventStoreUrl && { events: embedded.eventStoreUrl }),
    ...(embedded.folder && { data: embedded.folder })
  }
}

/** The examples are only there when the secret was generated here: nobody else can have a token yet. */
export async function welcome (
  { url, docs, operate, events, data }: Places, config: CompleteConfig & { jwtSecretIsOurs: boolean }
): Promise<string> {
  return [
    `Ringledger ${packageVersion}`,
    `  listening  ${url}`,
    `  docs       ${docs}`,
    `  operate    ${operate}`,
    ...(events ? [`  events     ${events}`] : []),
    ...(data ? [`  data       ${data} (embedded back ends)`] : []),
    ...(config.jwtSecretIsOurs ? ['', ...await examples(url, config)] : []),
    '',
    'Stop with Ctrl-C.',
    ''
  ].join('\n')
}

/** Three commands that work when pasted, in this order, on the first start. */
async function examples (base: string, { jwt }: CompleteConfig): Promise<string[]> {
  const token = await signToken(jwt, { user: '1', ttl: '1h' })
  const { customer_name } = customer
  const headers = '-H "Authorization: Bearer $TOKEN" -H \'Content-Type: application/json\''
  const curl = (method: string, path: string, body: object) =>
    `  curl -sS -X ${method} ${base}${path} ${headers} -d '${JSON.stringify(body)}'`
  return [
    'Try it as user 1 of the example catalogue (the token is good for one hour):',
    `  TOKEN=${token}`,
    curl('POST', '/user/assistant', frontDesk),
    curl('PUT', '/user/assistant/1', { speech_speed: 1.1, max_call_duration: 300 }),
    curl('POST', '/user/lead', { phone_number: customerNumber, campaign_id: 1, variables: { customer_name } })
  ]
}
