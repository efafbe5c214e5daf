// Words that several schemas would say of the same field stand in one of them, and the others name it.

interface Schema { description?: string, properties?: Record<string, { description?: string }> }

/** Each with the schema that says what its fields mean, where it does not do so itself. */
const saidIn: ReadonlyArray<[name: string, by: string]> = [
  ['AssistantChanges', 'AssistantInput'],
  ['FoundLead', 'Lead'],
  ['TruncatedCall', 'WebhookCall'],
  ['CallSummary', 'Call'],
  ['DeliverySummary', 'Delivery'],
  ['DeliveryDetails', 'Delivery']
]

/** Takes descriptions away that the other schema has of a field of that name. A field without one keeps its words. */
export function sayOnce (schemas: Record<string, Schema>): void {
  for (const [name, by] of saidIn) {
    const [schema, other] = [schemas[name], schemas[by]]
    if (!schema || !other) throw new Error(`the API document has no schema ${schema ? by : name}`)
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (field.description === withoutDefault(other.properties?.[name])) delete field.description
    }
    schema.description = `What is not described here is as in ${by}.`
  }
}

/** What a create says of a default is no word on the field. */
const withoutDefault = (field: { description?: string } = {}) => field.description?.replace(/ Default: .*\.$/s, '')
