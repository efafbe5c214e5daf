// About how much memory a value takes.

/** In bytes, as V8 keeps it: good to a factor of two, which is enough for a budget. */
export function sizeOf (value: unknown): number {
  if (typeof value === 'string') return 24 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 32
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item)
  else for (const name in value) bytes += 8 + sizeOf(Reflect.get(value, name))
  return bytes
}
