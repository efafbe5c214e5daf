// The same load for each: new leads, new assistants, and changes of assistants.
import { frontDesk } from '../../src/domain/examples.js'
import { sendRequests, warmUp, type Figures } from '../support/load.js'
import { madeUp } from '../log/inventory.js'
import { kindsOf } from '../support/requests.js'
import type { Scene } from '../support/scene.js'
import { Client, idIn } from '../support/client.js'
import { random } from '../support/random.js'
import type { Contender, Serving } from './contenders.js'

export interface Measured {
  contender: string
  waits: boolean
  request: string
  inFlight: number
  figures: Figures
}

interface Load { seconds: number, inFlights: readonly number[], users: number }

export async function measureContender (scene: Scene, contender: Contender, load: Load): Promise<Measured[]> {
  const { name, waits } = contender
  const serving = await contender.start()
  try {
    const assistants = await createAssistants(scene, serving, load.users)
    const users = { ...madeUp(load.users), leads: [], tokenOf: (user: number) => scene.tokenOf(user) }
    const assistantOf = (user: number) => assistants[user - 1] ?? NaN
    const numbersOfThisRound = random(Date.now() % 2 ** 31)
    const kinds = kindsOf({ ...users, assistantOf }, numbersOfThisRound)
    const measured: Measured[] = []
    for (const request of ['POST lead', 'POST assistant', 'PUT assistant'] as const) {
      const next = kinds[request]
      await warmUp(serving.url, 10, next)
      for (const inFlight of load.inFlights) {
        const figures = await sendRequests(serving.url, serving.pids, { inFlight, seconds: load.seconds }, next)
        measured.push({ contender: name, waits, request, inFlight, figures })
      }
    }
    return measured
  } finally {
    await scene.stopRoles()
  }
}

/** One of each user, whose id is at the place of the user. */
async function createAssistants (scene: Scene, { url }: Serving, users: number): Promise<number[]> {
  const client = new Client(url, '127.0.0.1', 1)
  const ids: number[] = []
  for (let user = 1; user <= users; user++) {
    const { status, body } = await client.send('POST', '/user/assistant', { token: scene.tokenOf(user), body: frontDesk })
    if (status !== 201) throw new Error(`an assistant was not created: ${status} ${body}`)
    ids.push(idIn({ body }))
  }
  client.close()
  return ids
}
