// All consumers of a process open the same events at the same moment: their keys are looked for once.
import type { Known } from './key-cache.js'
import type { KeyName } from './person-keys.js'

type Look = (names: readonly KeyName[]) => Promise<Known[]>

/** What others look for already is not looked for again. A look of theirs that fails is made once more, alone. */
export function lookedForOnce (look: Look): Look {
  const looking = new Map<string, Promise<Known[]>>() // by the id of the key
  return async (names) => {
    if (names.length === 0) return []
    const ours = names.filter(({ keyId }) => !looking.has(keyId))
    const theirs = names.filter(({ keyId }) => looking.has(keyId))
    const others = new Set(theirs.flatMap(({ keyId }) => looking.get(keyId) ?? []))
    const own = look(ours).finally(() => { for (const { keyId } of ours) looking.delete(keyId) })
    for (const { keyId } of ours) looking.set(keyId, own)
    const found = Promise.all(others).catch(async () => [await look(theirs)]) // what failed may be none of these
    const [known, all] = await Promise.all([own, found])
    return [...known, ...all.flat().filter(({ keyId }) => names.some((name) => name.keyId === keyId))]
  }
}
