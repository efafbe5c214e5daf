// Values that a field takes, and values that it refuses with their messages, by the kind of the field.

export interface FieldCase {
  good: unknown[]
  bad: [value: unknown, ...messages: string[]][]
}

export const smiley = '😀' // two UTF-16 units, one code point
export const notA = (message: string, ...values: unknown[]): FieldCase['bad'] => values.map((value) => [value, message])
export const notText = notA('must be a string', 5, true, null, [], {})

export function text (longest?: number): FieldCase {
  const limits: FieldCase = longest === undefined
    ? { good: ['x'.repeat(20_000)], bad: [] }
    : {
        good: ['x'.repeat(longest), smiley.repeat(longest)],
        bad: notA(`must be at most ${longest} characters`, 'x'.repeat(longest + 1), smiley.repeat(longest + 1))
      }
  return { good: ['x', ' ', 'a\nb\t"\\', ...limits.good], bad: [['', 'must not be empty'], ...limits.bad, ...notText] }
}

/** Zero-width space and joiner, soft hyphen, mark of direction, Hangul filler, blank of Braille, tag, control. */
const invisible = ['\u200b', '\u200d\u200c', '\u00ad', '\u202e ', '\u3164', '\u2800', '\u{e0041}', '\u0001', '\ufe0f']

/** A text that people know something by. */
export function label (longest: number): FieldCase {
  const { good, bad } = text(longest)
  const blank = notA('must not be blank', ' ', '   ', '\n', '\t \u00a0', '\u2003', ...invisible)
  return { good: good.map((value) => value === ' ' ? ' x ' : value).concat('👩‍👧', 'نام‌ها', '́'), bad: [...bad, ...blank] }
}

export const flag: FieldCase = { good: [true, false], bad: notA('must be true or false', 'true', 1, 0, null, [], {}) }

export const choice = (...values: string[]): FieldCase => ({
  good: values,
  bad: notA(
    `must be one of: ${values.join(', ')}`, '', `${values[0]} `, values[0]?.toUpperCase(), 0, null, true, [values[0]]
  )
})

export const number = (least: number, most: number): FieldCase => ({
  good: [least, most, (least + most) / 2],
  bad: [
    ...notA(`must be between ${least} and ${most}`, least - 0.001, most + 0.001, -1e9, 1e9),
    ...notA('must be a number', String(most), null, true, [], {})
  ]
})

export const whole = (least: number, most: number): FieldCase => ({
  good: [least, most, least + 1],
  bad: [
    ...notA(`must be between ${least} and ${most}`, least - 1, most + 1),
    ...notA('must be an integer', least + 0.5, String(most), null, true, [], {})
  ]
})

/** `owned` by the user or there for everybody; `missing` for everything else that could be one. */
export const id = (type: string, owned: unknown[], missing: string, ...others: number[]): FieldCase => ({
  good: owned,
  bad: [
    ...notA(missing, ...others, 2 ** 31, Number.MAX_SAFE_INTEGER), ...notA('must be at least 1', 0, -1),
    ...notA('must be between 1 and 9007199254740991', 2 ** 53, 1e300),
    ...notA(`must be ${type}`, 1.5, '1', true, [], {})
  ]
})
