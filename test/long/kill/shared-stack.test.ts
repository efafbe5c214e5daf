// What a command does with a DATA_DIR whose `start` was killed.
import t from 'tap'
import { dataDirs, startStack } from '../../services/embedded/stack-process.js'

const dataDir = await dataDirs(t)

t.test('a command beside the run.json of a start that was killed starts back ends of its own', async (t) => {
  const dir = dataDir(t)
  const start = startStack(t, dir)
  const { databaseUrl } = await start.message('opened')
  start.kill('SIGKILL')
  const command = startStack(t, dir, { role: 'command', how: 'once' })
  const opened = await command.message('opened')
  t.equal(opened.joined, false)
  t.not(opened.databaseUrl, databaseUrl)
  t.equal(await command.ended, 0)
})
