// The URL of an assistant whose webhook is on.
import type { Assistant } from '../../assistants/model.js'
import { Rejection } from '../../../domain/rejection.js'

export const isOff = 'The webhook is switched off: set is_webhook_active to true instead.'

/** @throws Rejection `webhook-refused` while it is switched off */
export function activeUrl ({ settings: { is_webhook_active: isActive, webhook_url: url } }: Assistant): string {
  if (!isActive || url === null) throw new Rejection('webhook-refused', isOff)
  return url
}
