// About how much memory a value takes.

/** Nothing that nests deeper is an event of ours; without a limit a hostile one would overflow the stack. */
const deepest = 500

/** In bytes, as V8 keeps it: good to a factor of two, which is enough for a budget. */
export function sizeOf (value: unknown, levels = deepest): number {
  if (typeof value === 'string') return 24 + value.length
  if (typeof value !== 'object' || value === null || levels === 0) return 8
  if (value instanceof Uint8Array) return 32 + value.length
  let bytes = 32
  if (value instanceof Map || value instanceof Set) {
    for (const [key, item] of value.entries()) bytes += 16 + sizeOf(key, levels - 1) + sizeOf(item, levels - 1)
  } else if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item, levels - 1)
  else for (const name in value) bytes += 8 + sizeOf(Reflect.get(value, name), levels - 1)
  return bytes
}
