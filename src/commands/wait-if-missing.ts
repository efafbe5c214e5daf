// A fact that a read model lacks may only be late. It counts as missing once the read model is level with the log.

/** The read model has not come as far as the log was when the fact was missing: whether it exists is not known. */
export class NotKnownYet extends Error {
  override readonly name = 'NotKnownYet'
}

export interface WaitIfMissingOptions {
  /** The position of the newest event in the log. */
  head (): Promise<bigint>
  /** A position that `source` is past already; nothing while it is filled for the first time. */
  passed (source: string): Promise<bigint | undefined>
  /** True as soon as readers see `source` at the position or later; false when the time is over first. */
  reached (source: string, position: bigint, withinMs: number): Promise<boolean>
  /** How long a look-up waits, in milliseconds. */
  waitMs: number
}

/** Looks up what `source` knows. A fact that is there costs one look-up; one that is missing, a look at the log too. */
export interface WaitIfMissing {
  /** @throws NotKnownYet, EventStoreUnavailable, and what `find` throws */
  <Fact>(source: string, find: () => Promise<Fact>, isThere?: (fact: Fact) => boolean): Promise<Fact>
}

export function waitIfMissing ({ head, passed, reached, waitMs }: WaitIfMissingOptions): WaitIfMissing {
  return async (source, find, isThere = (fact) => fact !== undefined) => {
    if (await passed(source) === undefined) throw new NotKnownYet(`the read model ${source} is being filled`)
    const found = await find()
    if (isThere(found)) return found
    const end = await head()
    if (await reached(source, end, waitMs)) return await find()
    throw new NotKnownYet(`the read model ${source} has not reached position ${end}, so what it lacks may be there`)
  }
}
