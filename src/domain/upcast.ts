// The versions of an event type: what each one holds, and the pure step from one to the next.
import type { Static, TSchema } from 'typebox'

type Upcast = (data: never) => unknown

/** `Data` is that of the current version, the only one that readers see. */
export interface Versions<Data> {
  /** A schema for each version that was ever written, the first one first. */
  schemas: readonly TSchema[]
  /** The steps between them: the first one leads from version 1 to version 2. */
  upcasts: readonly Upcast[]
  /** The schema in the log, if the log seals what the current version says of persons; readers see `Data`. */
  stored?: TSchema
  /**
   * Adds a version; `stored` is its sealed form in the log. `upcast` is pure and total: it gives what this version
   * would have written of the same fact.
   */
  next: <Schema extends TSchema>(
    schema: Schema, upcast: (data: Data) => Static<Schema>, stored?: TSchema
  ) => Versions<Static<Schema>>
}

/** The first version of a type; `stored` is its sealed form in the log. `next` adds later versions. */
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

/** The events that readers see, for a record of versions. */
export type EventOf<Types> =
  { [Type in keyof Types]: { type: Type, data: Types[Type] extends Versions<infer Data> ? Data : never } }[keyof Types]

export const typesOf = <Types extends object>(versions: Types) =>
  Object.keys(versions) as Array<keyof Types> // the keys of a literal
