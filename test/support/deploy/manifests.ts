// The manifests for Kubernetes, as they stand in the repository.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { packageRoot } from '../../../src/package-root.js'

// A manifest is of any kind; a wrong guess fails the test.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Manifest = any

export const manifestFolder = join(packageRoot, 'deploy/kubernetes')
export const manifestFiles = readdirSync(manifestFolder)

export const manifests = manifestFiles.flatMap((file): Manifest[] =>
  parseAllDocuments(readFileSync(join(manifestFolder, file), 'utf8')).map((document) => document.toJS()))

export const ofKind = (kind: string): Manifest[] => manifests.filter((each) => each.kind === kind)
