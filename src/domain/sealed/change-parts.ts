// Walks to the personal parts of an event's data.
import type { PersonalPart } from './personal-parts.js'
import { isFields, type Fields } from './sealed.js'

/** A part, and the place that what is sealed of it is bound to. */
export interface Found { part: Fields, place: string }

/** The part as it is to be, or nothing where it goes. */
type Change = (found: Found) => Fields | undefined

/**
 * The data with each part of this kind changed; nothing when the data itself goes. What is not there, or has another
 * shape, stays as it is.
 */
export function changeParts (data: Fields, { path }: Pick<PersonalPart, 'path'>, change: Change): Fields | undefined {
  return changeAt(data, path, '', change)
}

function changeAt (value: Fields, path: readonly string[], place: string, change: Change): Fields | undefined {
  const [name, ...rest] = path
  if (name === undefined) return change({ part: value, place })
  const inner = value[name]
  const at = place === '' ? name : `${place}.${name}`
  if (Array.isArray(inner)) {
    const items = inner.flatMap((item: unknown) =>
      isFields(item) ? changeAt(item, rest, `${at}.${String(item.id)}`, change) ?? [] : [item])
    return { ...value, [name]: items }
  }
  if (!isFields(inner)) return value
  const changed = changeAt(inner, rest, at, change)
  return changed && { ...value, [name]: changed }
}
