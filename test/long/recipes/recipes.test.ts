// Each recipe of docs/adding.md does what it says when it is followed to the letter, on data from before it.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { follow, recipes } from '../../support/documents/recipes.js'
import { eventually } from '../../support/eventually.js'
import { checkout, inCheckout } from '../checkout.js'
import { listeningUrl, ringledger } from '../../support/ringledger.js'
import { startService, untilReady } from '../../support/running-service.js'

t.setTimeout(3_600_000)

/** The DATA_DIR of a service that has an assistant and a lead, and a token of their user. */
async function before (t: Test) {
  const { url, call, token, dataDir, stop } = await startService(t)
  await untilReady(url)
  const user = await token('1')
  t.equal((await call('POST', '/user/assistant', { token: user, body: newAssistant() })).status, 201)
  t.equal((await call('POST', '/user/lead', { token: user, body: newLead() })).status, 200)
  await stop()
  return { dataDir, token }
}

for (const { title, steps } of recipes()) {
  t.test(title, async (t) => {
    const { dataDir, token } = await before(t)
    const folder = checkout(t)
    let url: string | undefined

    /** With what was changed, on the data from before. */
    async function started (): Promise<string> {
      await inCheckout(folder, 'npm run build')
      const changed = ringledger(t, ['start'], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' }, [join(folder, 'bin/ringledger.js')])
      return await changed.says(listeningUrl)
    }

    for (const step of steps) {
      if (!('commands' in step)) {
        follow(step, folder)
        continue
      }
      const isOnService = step.commands.includes('/tmp/try') || step.commands.includes(':4000')
      if (isOnService) url ??= await started()
      const typed = step.commands.replaceAll('/tmp/try', dataDir).replaceAll('http://127.0.0.1:4000', url ?? '')
      const env = isOnService ? { TOKEN: await token('1') } : undefined
      const type = () => inCheckout(folder, typed, env)
      t.comment(await (isOnService ? eventually(type, 120_000, 1_000) : type())) // rows come a moment later
      t.pass(step.commands)
    }
    t.comment(await inCheckout(folder, 'npm run check'))
    t.pass('types, style and imports are as they have to be')
  })
}
