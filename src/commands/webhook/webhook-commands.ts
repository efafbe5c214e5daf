// What users do about their webhooks; `routes.ts` adds them.
import type { App } from '../../http/app-types.js'
import { changeAssistantSecret, type AssistantSecretDeps } from './assistant-secret.js'
import { recoverWebhooks, type RecoverWebhooksDeps } from './recover-webhooks.js'
import { redeliverWebhook, type RedeliverDeps } from './redeliver-webhook.js'
import { resumeWebhook, type ResumeWebhookDeps } from './resume-webhook.js'
import { rotateWebhookSecret, type RotateSecretDeps } from './rotate-webhook-secret.js'
import { testWebhook, type TestWebhookDeps } from './test-webhook.js'

export type WebhookCommandDeps =
  RedeliverDeps & TestWebhookDeps & ResumeWebhookDeps & RotateSecretDeps & AssistantSecretDeps &
  RecoverWebhooksDeps

export function addWebhookCommands (app: App, deps: WebhookCommandDeps): void {
  redeliverWebhook(app, deps)
  testWebhook(app, deps)
  resumeWebhook(app, deps)
  rotateWebhookSecret(app, deps)
  changeAssistantSecret(app, deps)
  recoverWebhooks(app, deps)
}
