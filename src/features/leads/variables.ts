// What a user knows of somebody who is called, beside the number.
import Type from 'typebox'
import { AnyObject, documentedAs, type JsonObject } from '../../domain/json.js'

/** Free-form variables of a contact; `customer_name` and `email` are always there, empty when not given. */
export type ContactVariables = JsonObject & { customer_name: string, email: string }

export const StoredVariables = Type.Unsafe<ContactVariables>(AnyObject({
  ...documentedAs(AnyObject({})),
  description: 'Whatever was given with the contact. The texts `customer_name` and `email` are always there, empty when not given.',
  required: ['customer_name', 'email'],
  properties: {
    customer_name: { type: 'string', description: 'Empty when not given.' },
    email: { type: 'string', description: 'Empty when not given.' }
  }
}))
