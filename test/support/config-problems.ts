// Finds problems of settings, by name.
import type { Test } from 'tap'
import { BadSettings, loadConfig } from '../../src/config.js'
import type { FieldErrors } from '../../src/domain/rejection.js'

export function problems (environment: NodeJS.ProcessEnv): FieldErrors {
  try {
    loadConfig(environment)
    return {}
  } catch (error) {
    if (error instanceof BadSettings) return error.errors
    throw error
  }
}

/** Asserts that exactly these settings are wrong. */
export function refuses (t: Test, environment: NodeJS.ProcessEnv, ...names: string[]): void {
  t.strictSame(Object.keys(problems(environment)).sort(), names.sort(), JSON.stringify(environment))
}
