// Checks the values of arguments and options.
import { InvalidArgumentError } from 'commander'

export function timeToLive (text: string): string {
  if (!/^[1-9]\d*[smhd]$/.test(text)) throw new InvalidArgumentError('must be a number of s, m, h or d, such as 15m')
  return text
}

export function portNumber (text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535) throw new InvalidArgumentError('must be a port from 0 to 65535')
  return port
}

export function anyId (text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1')
  return Number(text)
}

export function positive (text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a number from 1 to 999999999')
  return Number(text)
}

export function wholeNumber (text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('must be a number from 1 to 9999')
  return Number(text)
}

export function revisionNumber (text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('must be a revision, such as 0')
  return BigInt(text)
}
