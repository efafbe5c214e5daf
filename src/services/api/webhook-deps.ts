// What the routes of webhooks work with: code of the workers, loaded when it is called.
import type { AppDeps } from '../../app.js'
import { packageVersion } from '../../package-root.js'
import { inTransaction } from '../../postgres/transaction.js'
import { secretKeys } from '../complete-config.js'
import type { Services } from '../services.js'

export type Routes = AppDeps['routes']
export type WebhookDeps = Pick<Routes,
  'interruptionOf' | 'deliveriesOf' | 'listDeliveries' | 'findDelivery' | 'redeliver' | 'testWebhook' | 'resumeUrl' | 'resumeWebhook' |
  'webhookUrlProblem' | 'webhookSecret' | 'assistantSecret' | 'rotateSecret' | 'rotateAssistantSecret' |
  'dropAssistantSecret' | 'listNotices' | 'recoverWebhooks'>

export async function webhookDeps ({ config, connections: { pool } }: Services): Promise<WebhookDeps> {
  const [guard, secrets, endpoints, deliveries, requests, notices, onDemand, recoveries] = await Promise.all([
    import('../../../workers/deliver/guard.js'),
    import('../../../workers/deliver/secrets.js'),
    import('../../../workers/deliveries/endpoints.js'),
    import('../../../workers/deliveries/read/find-deliveries.js'),
    import('../../../workers/deliveries/read/find-request.js'),
    import('../../../workers/deliveries/notices.js'),
    import('../../../workers/operate/redeliver.js'),
    import('../../../workers/operate/request-recovery.js')
  ])
  const keys = secretKeys(config)
  return {
    interruptionOf: (userId, url) => endpoints.findInterruption(pool, userId, url),
    deliveriesOf: (userId, callId) => deliveries.findDeliveries(pool, userId, callId),
    listDeliveries: (filter, page) => deliveries.listDeliveries(pool, filter, page),
    async findDelivery (userId, id) {
      const found = await deliveries.findDelivery(pool, userId, id)
      return found && { ...found, request: await requests.findRequest(pool, id, packageVersion) }
    },
    listNotices: (userId, page) => notices.listNotices(pool, userId, page),
    redeliver: (ledger, userId, id) => onDemand.requestRedelivery(ledger, id, userId),
    testWebhook: (ledger, target) => onDemand.requestTest(ledger, target),
    resumeUrl: (userId, url) => inTransaction(pool, (tx) => endpoints.resumeUrl(tx, userId, url)),
    resumeWebhook: (ledger, userId, url) => endpoints.resumeUrl(ledger, userId, url),
    webhookUrlProblem: (url) => guard.webhookUrlProblem(url, config.webhook),
    webhookSecret: (userId) => secrets.userSecrets(pool, keys, userId),
    assistantSecret: (userId, id) => secrets.assistantSecrets(pool, keys, userId, id),
    rotateSecret: (ledger, userId, hours) => secrets.rotateUserSecret(ledger, keys, userId, hours),
    rotateAssistantSecret: (ledger, userId, id, hours) => secrets.rotateOwnSecret(ledger, keys, { userId, id }, hours),
    recoverWebhooks: (ledger, recovery) => recoveries.requestRecovery(ledger, recovery),
    dropAssistantSecret: (ledger, userId, id) => secrets.dropOwnSecret(ledger, keys, userId, id)
  }
}
