// Options that narrow a command to the deliveries of some.
import { Option } from 'commander'
import { anyId } from '../values.js'

export const ofUser = (): Option => new Option('--user <id>', 'only those of this user')
export const ofAssistant = (): Option => new Option('--assistant <id>', 'only those of this assistant').argParser(anyId)
