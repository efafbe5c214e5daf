// The answer to a command: from what was folded, where readers lack no event; else from the read model.
import fastify from 'fastify'
import t, { type Test } from 'tap'
import type { Positions } from '../../projections/engine/positions.js'
import { readBack } from '../../src/http/read-position.js'
import { positionRig } from '../support/projections/position-rig.js'

const { pool, listening, deafPool, projectOne, parkOne } = await positionRig(t)

/** How a command is answered whose event is at a position. */
async function answering (t: Test, positions: Positions) {
  const app = fastify()
  t.teardown(() => app.close())
  app.post<{ Params: { position: string }, Querystring: { of?: string } }>('/:position', async (request, reply) => {
    const isAllInStream = request.query.of !== 'more than its stream'
    return await readBack(
      positions, reply, { position: BigInt(request.params.position) },
      { source: 'assistants', folded: () => 'folded', read: async () => 'read', isAllInStream })
  })
  return async (position: bigint, of = 'its stream') => {
    const { body, headers } = await app.inject({ method: 'POST', url: `/${position}`, query: { of } })
    return [body, headers['x-read-model'] ?? 'visible']
  }
}

t.test('an answer comes from the stream where all is in it, once readers see the event', async (t) => {
  const answer = await answering(t, await listening(t, deafPool(t))) // hears notifications alone
  const position = await projectOne()
  t.strictSame(await answer(position), ['folded', 'visible'])
  t.strictSame(await answer(position, 'more than its stream'), ['read', 'visible'])
  t.strictSame(await answer(position + 10n), ['folded', 'pending'])
})

t.test('while an event is parked or was skipped, the read model is asked, but not for the one that is parked', async (t) => {
  const positions = await listening(t)
  const answer = await answering(t, positions)
  await projectOne()
  const parked = await parkOne()
  t.strictSame(await answer(parked), ['folded', 'pending'])
  t.strictSame(await answer(await projectOne()), ['read', 'visible'], 'also where the batch has no part in it')
  t.equal(await positions.projected('assistants', parked), 'parked', 'also once readers are past it')
  await pool.query(`
    WITH gone AS (DELETE FROM ledger.parked_events RETURNING stream, revision)
    INSERT INTO ledger.skipped_events (projection, stream, revision, reason) SELECT 'assistants', stream, revision, 'test' FROM gone`)
  t.teardown(() => pool.query('DELETE FROM ledger.skipped_events'))
  t.strictSame(await answer(await projectOne()), ['read', 'visible'])
})
