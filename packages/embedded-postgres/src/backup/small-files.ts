// What a backup holds beside the cluster: small files in a folder of their own, at the beginning of the tar.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Header } from 'tar'

/** In the tar, beside the files of the cluster. */
export const smallFolder = '.ringledger'

/** Says what a backup is. */
export const aboutFile = 'about.json'

/** Of DATA_DIR, besides those of the caller: nobody gets into the cluster without it. */
export const passwordFile = 'postgres-password'

export interface About {
  format: 1
  /** Its first two numbers, such as `18.4`. */
  postgres: string
  made_at: string
  /** Those of DATA_DIR that are in it. */
  files: string[]
}

const blockBytes = 512

/** The beginning of a tar, which another one can follow. What is missing of `names` in DATA_DIR is left out. */
export function headOf (dataDir: string, names: readonly string[], about: Omit<About, 'format' | 'files'>): Buffer {
  const files = names.filter((name) => existsSync(join(dataDir, name)))
  const said: About = { format: 1, ...about, files }
  return Buffer.concat([
    entry(aboutFile, Buffer.from(`${JSON.stringify(said, undefined, 2)}\n`)),
    ...files.map((name) => entry(name, readFileSync(join(dataDir, name))))
  ])
}

function entry (name: string, content: Buffer): Buffer {
  const header = new Header({
    path: `${smallFolder}/${name}`, mode: 0o600, size: content.length, type: 'File', mtime: new Date(), uid: 0, gid: 0
  })
  header.encode()
  const padding = Buffer.alloc((blockBytes - content.length % blockBytes) % blockBytes)
  return Buffer.concat([header.block ?? Buffer.alloc(0), content, padding])
}
