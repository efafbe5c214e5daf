// Logs to a disk that has no room, and ends as it is told: by itself, or by an exit.
import { openSync } from 'node:fs'
import { openLog, voiceOf } from '../../../src/cli/output.js'

const opened = openLog('info', openSync('/dev/full', 'w'))
const voice = voiceOf(opened)
for (let line = 0; line < 10; line++) opened.log.info('a line')
voice.complain(new Error('it ends'))
await voice.written()
if (process.argv[2] === 'exit') process.exit(3)
process.exitCode = 3
