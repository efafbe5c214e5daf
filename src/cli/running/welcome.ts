// What `ringledger start` prints: where it listens, and commands to try it with.
import type { CompleteConfig } from '../../composition/complete-config.js'
import { customer, customerNumber, frontDesk } from '../../domain/examples.js'
import { packageVersion } from '../../package-root.js'
import { signToken } from './sign-token.js'

/** Of embedded back ends; absent where they are set. */
export interface EmbeddedPlaces {
  folder?: string | undefined
  /** For programs that append, such as a call engine. */
  eventStoreUrl?: string | undefined
}

/** The examples are only there when the secret was generated here: nobody else can have a token yet. */
export async function welcome (
  url: string, config: CompleteConfig & { jwtSecretIsOurs: boolean }, embedded: EmbeddedPlaces
): Promise<string> {
  const base = `${url}${config.basePath}`
  return [
    `Ringledger ${packageVersion}`,
    `  listening  ${base}`,
    `  docs       ${base}/docs`,
    ...(embedded.eventStoreUrl ? [`  events     ${embedded.eventStoreUrl}`] : []),
    ...(embedded.folder ? [`  data       ${embedded.folder} (embedded back ends)`] : []),
    ...(config.jwtSecretIsOurs ? ['', ...await examples(base, config)] : []),
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
