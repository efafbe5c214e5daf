// The secrets that sign webhooks, as answers have them.
import Type from 'typebox'

export const WebhookSecret = Type.Object({
  secret: Type.String({
    description: 'Verifies webhook-signature, as Standard Webhooks describes.', examples: ['whsec_...']
  }),
  previous: Type.Unsafe<{ secret: string, expires_at: string } | null>({
    title: 'PreviousSecret',
    type: ['object', 'null'],
    required: ['secret', 'expires_at'],
    properties: { secret: { type: 'string' }, expires_at: { type: 'string', description: 'ISO 8601, UTC.' } },
    description: 'After a rotation, the secret that was current before: signs as well until it expires.'
  })
}, { title: 'WebhookSecret' })

export const WebhookSecretAnswer = Type.Object({ data: WebhookSecret }, { title: 'WebhookSecretAnswer' })

export const AssistantSecret = Type.Object({
  ...WebhookSecret.properties,
  own: Type.Boolean({ description: 'Whether the secret is the assistant\'s; without one of its own it has yours.' })
}, { title: 'AssistantSecret' })

export const AssistantSecretAnswer = Type.Object({ data: AssistantSecret }, { title: 'AssistantSecretAnswer' })
