// Ids in paths.

/** The id that a path holds, or nothing when it is none that anything could have. */
export function idIn (text: string): number | undefined {
  const id = Number(text)
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}
