// Every place between two steps where a process may die, and which tests let it die there.

/** Of a projector that writes what it gets, sets aside what is refused, and resumes. */
export const runnerPoints = ['opened', 'claimed', 'received', 'begun', 'moved', 'savepoint', 'loaded', 'set aside', 'saved', 'written', 'refused', 'handled', 'committed'] as const

/** Of a projector that refuses too much. */
export const brakePoints = ['brake pulled'] as const

/** Of a replay without a projector, and how often it is passed before it is tried. */
export const replayPoints: ReadonlyArray<readonly [at: string, nth: number]> = [
  ['replay: made', 1], ['replay: claimed', 1], ['replay: loaded', 1], ['replay: loaded', 4],
  ['replay: begun', 1], ['replay: begun', 3], ['replay: moved', 3], ['replay: saved', 3], ['replay: committed', 3],
  ['replay: level', 1], ['replay: verified', 1], ['replay: noted', 1], ['replay: index', 2], ['replay: vacuum', 2], ['replay: ready', 1],
  ['swap: begin', 1], ['swap: held', 1], ['swap: level', 1], ['swap: views', 1], ['swap: committed', 1]
]

/** Of a rollback before its swap, and of a drop. */
export const rollbackPoints = ['rollback: begun'] as const
export const dropPoints = ['drop: begun', 'drop: removed', 'drop: committed'] as const
