// The nine fields that every assistant needs, of one that makes calls.
import { frontDesk } from '../../../src/domain/examples.js'

export const requiredFields = {
  ...frontDesk,
  calls_direction: 'make' as const,
  initial_message: 'Hello',
  system_prompt: 'Be kind.'
}
