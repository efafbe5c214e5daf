// What an event says of a person, as text under the person's key.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { isFields, type Fields } from '../domain/sealed/sealed.js'
import { decrypt, encrypt } from './aes.js'

/** Base64 makes a third more of it, and a server takes an event of a megabyte: what is large is packed first. */
const packedFrom = 64 * 1024
/** No event is larger when it is unpacked. */
const mostBytes = 16 * 2 ** 20

/** The first byte says which. */
const asIs = 0
const packed = 1

/** @param place where in which event it stands: it can be opened nowhere else */
export function sealText (key: Buffer, place: string, part: Fields): string {
  const json = Buffer.from(JSON.stringify(part))
  const text = json.length < packedFrom
    ? Buffer.concat([Buffer.of(asIs), json])
    : Buffer.concat([Buffer.of(packed), deflateRawSync(json)])
  return encrypt(key, place, text).toString('base64')
}

/** Nothing when it was not sealed for this place, or was changed. */
export function openText (key: Buffer, place: string, text: string): Fields | undefined {
  try {
    const bytes = decrypt(key, place, Buffer.from(text, 'base64'))
    const content = bytes.subarray(1)
    const json = bytes[0] === packed ? inflateRawSync(content, { maxOutputLength: mostBytes }) : content
    const part: unknown = JSON.parse(json.toString())
    return isFields(part) ? part : undefined
  } catch {
    return undefined
  }
}
