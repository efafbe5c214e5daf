// What an operator asked for cannot be done as things are; the message says why, and what to do.

export class Refused extends Error {
  override readonly name = 'Refused'
  constructor (message: string, readonly statusCode: 404 | 409 = 409) {
    super(message)
  }
}
