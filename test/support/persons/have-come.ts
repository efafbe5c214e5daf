// Waits for those who read the log.
import type { TestService } from '../service.js'

/** As positions name them. */
export const readers = ['leads', 'calls', 'deliveries'] as const
export type Reader = typeof readers[number]

/** Once these have come as far as the log. */
export async function haveCome (
  { parts: { positions, streams } }: Pick<TestService, 'parts'>, who: readonly string[] = readers
): Promise<void> {
  const head = await streams.head()
  for (const reader of who) {
    if (!await positions.reached(reader, head, 20_000)) throw new Error(`${reader} is behind`)
  }
}
