// The person that a command names.
export interface NamedPerson { userId: string, phoneNumber: string }

/** @throws Error in words for the terminal */
export async function personNamed (phoneNumber: string, userId: string): Promise<NamedPerson> {
  const [{ isSubject }, { isPhoneNumber, notE164 }] = await Promise.all([
    import('../../http/auth/credentials.js'), import('../../domain/json.js')
  ])
  if (!isPhoneNumber(phoneNumber)) throw new Error(`<phone> ${notE164}`)
  if (!isSubject(userId)) throw new Error('--user must be 1 to 128 printable characters')
  return { userId, phoneNumber }
}
