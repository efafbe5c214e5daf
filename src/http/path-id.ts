// Ids in paths: how routes describe and read them.
import Type from 'typebox'
import { deliveryId } from './docs/read-examples.js'

const idOf = (description: string, example: string) =>
  Type.Object({ id: Type.String({ description, examples: [example] }) })

// Text and not integers: what no id can be is not found, like any other, and is no field that failed.
export const assistantPath = idOf('The assistant, an integer.', '1')
export const deliveryPath = idOf('The delivery, its webhook-id.', deliveryId)

/** The id that a path holds, or nothing when it is none that anything could have. */
export function idIn (text: string): number | undefined {
  const id = Number(text)
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}
