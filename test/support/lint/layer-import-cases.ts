// A case for each row of the order of inner rooms, .dependency-cruiser-layers.js.
import type { ImportCase } from './package-import-cases.js'

export const layerCases: ImportCase[] = [
  {
    rule: 'what folds and fills knows nothing of the projections',
    file: 'projections/fill/fold-log.ts',
    good: '../folding/rows.js ../generations/generations.js ../parking/park.js',
    bad: '../engine/run.js ../replay/replay.js ../keys/keys.js ../leads.js ../operate/reproject.js'
  },
  {
    rule: 'verification knows nothing of the replay',
    file: 'projections/replay/verify/compare.ts',
    good: '../../generations/generations.js ../../folding/table.js',
    bad: '../replay.js ../../leads.js'
  },
  {
    rule: 'deliveries know nothing of the queue and of sending',
    file: 'workers/deliveries/attempts/attempt.ts',
    good: '../due-channel.js ../../../src/domain/webhook/outcome.js ../../../src/postgres/notifications/notifications.js pg',
    bad: '../../queue/slots.js ../../deliver/send.js ../../dispatch/dispatch.js ../../background/turns.js'
  },
  {
    rule: 'the queue knows deliveries and nothing of sending',
    file: 'workers/queue/slots.ts',
    good: '../deliveries/attempts/attempt.js ../../src/postgres/transaction.js pg',
    bad: '../deliver/send.js ../dispatch/dispatch.js ../operate/resume.js ../background/turns.js'
  }
]
