// What a command answers that deleted something, as soon as reads do not find it any more.
import type { Handled } from '../http/command-route.js'
import type { Source } from '../http/read-position.js'

export async function answerDeleted (
  message: string, source: Source, { readBack }: Pick<Handled<unknown>, 'readBack'>
): Promise<{ message: string }> {
  await readBack({ source, folded: () => null, read: async () => null })
  return { message }
}
