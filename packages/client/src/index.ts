// What callers and receivers of Ringledger import.
export { connect, type Client, type ConnectOptions } from './connect.js'
export { items, orThrow, Refused, type Answered } from './answers.js'
export { verifyWebhook, WebhookVerificationError, type Webhook } from './webhook.js'
export type { components, operations, paths } from './api.js'
