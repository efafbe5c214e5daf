// Verifies the webhooks that arrive and prints them: WEBHOOK_SECRET=whsec_… node dist/examples/receiver.js [PORT]
import { receiver } from '../docs/webhooks/receiver.js'

interface Event { type: string, data: { call_id?: string, extracted_variables?: { summary?: string } } }

const { WEBHOOK_SECRET: secret } = process.env
const port = Number(process.argv[2] ?? 4000)

if (secret) {
  receiver(secret, print).listen(port, '127.0.0.1', () => say(`Waiting for webhooks at http://127.0.0.1:${port}`))
} else {
  process.stderr.write('Set WEBHOOK_SECRET to what GET /user/webhook-secret answers.\n')
  process.exitCode = 1
}

const printed = new Set<string>() // one of yours keeps them in its database, with the event

async function print (id: string, event: unknown): Promise<void> {
  if (printed.has(id)) return // the same webhook may come twice
  printed.add(id)
  const { type, data } = event as Event // the signature says who wrote it
  say(`${type} ${data.call_id ?? ''}: ${data.extracted_variables?.summary ?? ''}`)
}

function say (words: string): void {
  process.stdout.write(`${words}\n`)
}
