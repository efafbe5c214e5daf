// `ringledger doctor`, and what it finds.
import type { Test } from 'tap'
import type { Finding } from '../../../src/ops/answers.js'
import { runWarm, type Environment } from '../../support/ringledger.js'

export async function doctor (t: Test, env: Environment) {
  const { code, stdout, stderr } = await runWarm(['doctor', '--json'], env)
  t.equal(stderr, '')
  const { ok, findings }: { ok: boolean, findings: Finding[] } = JSON.parse(stdout)
  t.equal(code, ok ? 0 : 1, 'the exit status tells')
  const find = (part: string, check: string) => findings.find((one) => one.part === part && one.check === check)
  return { code, stdout, findings, find }
}
