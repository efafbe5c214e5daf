// What stands for phone numbers in names of streams, by the setting LEAD_DIGEST_KEY.
import { phoneHash, type PhoneHash } from '../commands/phone-hash.js'
import { keyBytes } from './complete-config.js'

export const digestOfNumbers = ({ secrets }: { secrets: { leadDigestKey: string } }): PhoneHash =>
  phoneHash(keyBytes(secrets.leadDigestKey))
