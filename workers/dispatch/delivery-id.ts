// The id of a call's webhook.
import { uuidV5 } from '../../src/log/stored.js'

export const callType = 'call.completed'
const idNamespace = '3f1d5f0e-6b4c-5a53-9a8e-0f8f3b7c2d61'

/** The `webhook-id` of a call: always the same for one call. */
export const deliveryId = (callId: string) => uuidV5(idNamespace, `${callId}:${callType}`)
