// The program of the child process: `--port N` and DATABASE_URL in, `LISTENING <port>` out.
import { parseArgs } from 'node:util'
import { fail, portFrom, serve } from './serve.js'

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
const databaseUrl = process.env.DATABASE_URL ?? fail('DATABASE_URL is not set')
const { stop } = await serve({ databaseUrl, port: portFrom(values.port) })
if (process.env.RINGLEDGER_STOP_ON_STDIN_CLOSE === '1') process.stdin.on('close', stop).on('end', stop).resume()
