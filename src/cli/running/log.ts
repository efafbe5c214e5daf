// The log of a process.
import pino, { type Logger } from 'pino'
import { errorSerializer } from '../../http/logging.js'

/** Logs to stdout, or to another file descriptor. */
export function openLog (level: string, fileDescriptor = 1): Logger {
  return pino({ level, base: null, serializers: { err: errorSerializer } }, pino.destination(fileDescriptor))
}
