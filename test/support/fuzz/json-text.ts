// JSON texts that JSON.stringify would not write: numbers and strings by their letters, keys twice.

/** A piece of JSON as it stands. */
export class Raw {
  constructor (readonly text: string) {}
}

/** Like JSON.stringify; a `Raw` inside stays as it is, and depth is no limit. */
export function jsonText (value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  return `{${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${jsonText(inner)}`).join(',')}}`
}

/** An array in an array in an array …: `levels` brackets. */
export const nested = (levels: number): Raw => new Raw('['.repeat(levels) + ']'.repeat(levels))
