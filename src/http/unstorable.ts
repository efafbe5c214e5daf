// Finds what JSON allows and a projection could not store or give back unchanged.
import type { FieldErrors } from '../domain/rejection.js'

const deepest = 32

/** NUL or lone surrogates in keys and strings, numbers that lose digits, and too many levels; paths have dots. */
export function unstorable (body: unknown): FieldErrors {
  const errors: FieldErrors = {}
  walk(body, [], (path, message) => { errors[path.join('.') || 'body'] = [message] })
  return errors
}

function walk (value: unknown, path: string[], report: (path: string[], message: string) => void): void {
  if (path.length > deepest) return report(path.slice(0, deepest), `must not be nested more than ${deepest} levels deep`)
  if (typeof value === 'string' && !isStorable(value)) report(path, 'must not contain NUL characters or lone surrogates')
  if (typeof value === 'number') checkNumber(value, path, report)
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) report([...path, key.toWellFormed().replaceAll('\0', '')], 'must not have NUL characters or lone surrogates in its name')
    else walk(inner, [...path, key], report)
  }
}

function checkNumber (value: number, path: string[], report: (path: string[], message: string) => void): void {
  if (!Number.isFinite(value)) report(path, 'must be a finite number')
  else if (Number.isInteger(value) && !Number.isSafeInteger(value)) report(path, `must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`)
}

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()
