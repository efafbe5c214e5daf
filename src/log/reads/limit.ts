// What metadata of a stream hide its events.

/** `deleted` is a plain delete: an append brings the stream back, without its earlier events. */
export type Limit = '$maxCount' | '$maxAge' | '$tb' | 'deleted'

const names = ['$maxCount', '$maxAge', '$tb'] as const

/** Where a delete lets a stream begin: the last revision that there can be, which JSON.parse rounds up. */
const neverReached = 2 ** 63

export function limitIn (metadata: unknown): Limit | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined
  if ('$tb' in metadata && metadata.$tb === neverReached) return 'deleted'
  return names.find((name) => Object.hasOwn(metadata, name))
}
