// Waits for a service, as a load balancer does.
import { packageRoot } from '../../src/package-root.js'
import { Client } from './client.js'

/** What operators see of it. @throws when it does not become ready in time */
export async function untilReady ({ url }: { url: string }, withinMs = 60_000): Promise<void> {
  const client = new Client(url, '127.0.0.1', 1)
  const giveUpAt = performance.now() + withinMs
  while ((await client.send('GET', '/health/ready').catch(() => undefined))?.status !== 200) {
    if (performance.now() > giveUpAt) throw new Error(`the service is not ready, in ${packageRoot}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  client.close()
}
