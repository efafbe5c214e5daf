// What has ids from a sequence of ours: `ledger.<kind>_ids`.

export const idKinds = ['assistant', 'lead', 'campaign', 'phone_number', 'api_key', 'blacklist'] as const
export type IdKind = typeof idKinds[number]

/** One value for each kind. */
export function forEachKind<Value> (valueOf: (kind: IdKind) => Value): Record<IdKind, Value> {
  const values: object = Object.fromEntries(idKinds.map((kind) => [kind, valueOf(kind)]))
  return values as Record<IdKind, Value> // every kind is there
}
