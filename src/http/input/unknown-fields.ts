// Which fields of a body its schema does not know.

/** What a schema says of the names inside a value. */
export interface Names {
  properties?: Record<string, Names>
  items?: Names
  additionalProperties?: unknown
}

/** Paths, with dots, of the fields that `schema` does not name; in objects whose keys are free every name is known. */
export function unknownFields (value: unknown, names: Names, path = ''): string[] {
  const { properties, items, additionalProperties } = names
  if (Array.isArray(value)) {
    return items ? value.flatMap((item, index) => unknownFields(item, items, `${path}${index}.`)) : []
  }
  if (typeof value !== 'object' || value === null || !properties || additionalProperties === true) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    return known ? unknownFields(inner, known, `${path}${name}.`) : [`${path}${name}`]
  })
}
