// A process ends after its last line is written: an exit does not wait for a line that is on its way.
import { pbkdf2 } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openLog, voiceOf } from '../../../src/cli/output.js'
import { dataDir } from '../../support/ringledger.js'

t.test('what was told is written once `written` has resolved, however busy the threads that write are', async (t) => {
  const file = join(dataDir(t), 'log')
  const target = openSync(file, 'w')
  t.teardown(() => closeSync(target))
  const voice = voiceOf(openLog('silent', target))
  for (let thread = 0; thread < 4; thread++) pbkdf2('', '', 20_000, 64, 'sha512', () => {})
  voice.say('Draining ...')
  voice.say('Stopped.')
  await voice.written()
  t.match(readFileSync(file, 'utf8'), /"msg":"Draining ..."}\n.*"msg":"Stopped\."}\n$/)
})
