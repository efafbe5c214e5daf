// `ringledger calls complete FILE`: reports a completed call as the call engine would, by event.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { callDecider } from '../domain/call/decide.js'
import { callStream, type CallCompleted } from '../domain/call/events.js'
import { decode } from '../domain/events.js'
import { commandHandler } from '../command-handling/handle-command.js'
import { say, withConnections } from './running/back-ends.js'

export async function completeCallFromFile (file: string): Promise<void> {
  const { call_id: callId, ...body } = await readReport(file)
  await withConnections('ringledger calls complete', async ({ streams }) => {
    await commandHandler(streams).handle({
      decider: callDecider,
      stream: callStream(callId),
      command: { callId, body, refused: {}, facts: { assistantExists: true, leadBelongs: true } },
      commandId: randomUUID(),
      correlationId: randomUUID()
    })
  })
  say(`Call ${callId} is in the log.`)
}

/** @throws an Error that names the file and the first field that is wrong */
async function readReport (file: string): Promise<CallCompleted> {
  try {
    const data: unknown = JSON.parse(await readFile(file, 'utf8'))
    const callId: unknown = typeof data === 'object' && data !== null && 'call_id' in data ? data.call_id : undefined
    const event = decode({ type: 'CallCompleted', data, metadata: {}, stream: callStream(String(callId)), revision: 0n })
    if (event?.type === 'CallCompleted') return event.data
  } catch (cause) {
    throw new Error(`${file} is not a completed call: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  throw new Error(`${file} is not a completed call`)
}
