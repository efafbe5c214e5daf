// The versions of an event type: what each one holds, and the pure step from one to the next.
import type { Static, TSchema } from 'typebox'

type Upcast = (data: never) => unknown

/** `Data` is what the current version holds: the only one that readers meet. */
export interface Versions<Data> {
  /** A schema for each version that was ever written, the first one first. */
  schemas: readonly TSchema[]
  /** The steps between them: the first one leads from version 1 to version 2. */
  upcasts: readonly Upcast[]
  /** What the log holds of the current version, where what it says of persons is sealed; readers meet `Data`. */
  stored?: TSchema
  /**
   * One version more, sealed in the log where `stored` says so. `upcast` is pure and total: it gives what this version
   * would have written of the same fact.
   */
  next: <Schema extends TSchema>(
    schema: Schema, upcast: (data: Data) => Static<Schema>, stored?: TSchema
  ) => Versions<Static<Schema>>
}

/** A type as it was first written, sealed in the log where `stored` says so; `next` adds later versions. */
export const firstVersion = <Schema extends TSchema>(schema: Schema, stored?: TSchema): Versions<Static<Schema>> =>
  versions([schema], [], stored)

function versions<Data> (schemas: readonly TSchema[], upcasts: readonly Upcast[], stored?: TSchema): Versions<Data> {
  return {
    schemas,
    upcasts,
    ...(stored && { stored }),
    next: (schema, upcast, stored) => versions([...schemas, schema], [...upcasts, upcast], stored)
  }
}

/** What readers meet of the types in a record of versions. */
export type EventOf<Types> =
  { [Type in keyof Types]: { type: Type, data: Types[Type] extends Versions<infer Data> ? Data : never } }[keyof Types]

export const typesOf = <Types extends object>(versions: Types) =>
  Object.keys(versions) as Array<keyof Types> // the keys of a literal
