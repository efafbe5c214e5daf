// Says which back end did not answer at the start, and which setting leads to it.

/** A back end did not answer at the start. */
export class BackEndUnreachable extends Error {
  override readonly name = 'BackEndUnreachable'
}

/** @throws BackEndUnreachable when `answer` fails, with its reason and the setting that leads there */
export async function reachable<Answer> (what: string, setting: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (cause) {
    const problem = `${what} did not answer: ${reasonOf(cause)}`
    throw new BackEndUnreachable(`${problem}. Check that it runs and that ${setting} leads to it.`, { cause })
  }
}

/** A host name with several addresses fails once for each, and the error around them says nothing. */
function reasonOf (cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ')
  return cause instanceof Error ? cause.message : String(cause)
}
