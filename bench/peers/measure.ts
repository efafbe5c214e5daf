// The same load for each: new leads, new assistants, and changes of assistants.
import { frontDesk } from '../../src/domain/examples.js'
import { sendRequests, warmUp, type Figures, type Request } from '../commands/load.js'
import type { Scene } from '../commands/scene.js'
import { Client } from '../support/client.js'
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
    const kinds = requests(scene, await createAssistants(scene, serving, load.users))
    const measured: Measured[] = []
    for (const [request, next] of Object.entries(kinds)) {
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
    ids.push(JSON.parse(body).data.id)
  }
  client.close()
  return ids
}

/** Users take turns. */
function requests (scene: Scene, assistants: readonly number[]): Record<string, () => Request> {
  const chance = random(Date.now() % 2 ** 31) // numbers that no earlier round has called
  let turn = 0
  const next = () => turn++ % assistants.length
  return {
    'POST lead' () {
      const user = next()
      const body = { phone_number: `+4${chance.whole(10 ** 12, 10 ** 13 - 1)}`, campaign_id: user * 3 + 1 }
      return { method: 'POST', path: '/user/lead', token: scene.tokenOf(user + 1), body, status: 200 }
    },
    'POST assistant': () =>
      ({ method: 'POST', path: '/user/assistant', token: scene.tokenOf(next() + 1), body: frontDesk, status: 201 }),
    'PUT assistant' () {
      const user = next()
      const body = { llm_temperature: chance.whole(0, 10) / 10, initial_message: `Hello, this is ${chance.hex(8)}.` }
      return { method: 'PUT', path: `/user/assistant/${assistants[user]}`, token: scene.tokenOf(user + 1), body, status: 200 }
    }
  }
}
