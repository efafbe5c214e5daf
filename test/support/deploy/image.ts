// What the image of the service holds, as a folder that is put together as the Dockerfile says.
import {
  copyFileSync, linkSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, statSync, symlinkSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from '../../../src/package-root.js'
import { copies, stage } from './dockerfile.js'

interface Locked { dev?: boolean, optional?: boolean, devOptional?: boolean }

/** Fills `folder`, which is empty. */
export function unpackImage (folder: string): void {
  for (const { from, sources, target } of copies(stage('service'))) {
    for (const source of sources) {
      const path = source.replace(/^\/build\//, '')
      const to = target === './' ? join(folder, path) : join(folder, target)
      if (path === 'node_modules') copyDependencies(folder)
      else if (from === 'dependencies') copyManifests(path, to)
      else copy(path, to)
    }
  }
}

/** Every file with the time of its last change. */
export function filesBelow (folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name)).sort().map((file) => `${file} ${statSync(file).mtimeMs}`)
}

/** As `npm ci --omit=dev --omit=optional` installs them. What is nested in a package has a row of its own. */
function copyDependencies (folder: string): void {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8'))
  for (const [path, { dev, optional, devOptional }] of Object.entries(packages)) {
    if (!path.startsWith('node_modules/') || dev || optional || devOptional) continue
    copy(path, join(folder, path), ['node_modules'])
  }
}

/** What is there of the packages of this repository when their dependencies are installed. */
function copyManifests (path: string, to: string): void {
  for (const name of readdirSync(join(packageRoot, path))) {
    copy(join(path, name, 'package.json'), join(to, name, 'package.json'))
  }
}

function copy (path: string, to: string, except: readonly string[] = []): void {
  mkdirSync(dirname(to), { recursive: true })
  copyTree(join(packageRoot, path), to, except)
}

function copyTree (from: string, to: string, except: readonly string[] = []): void {
  const stats = lstatSync(from)
  if (stats.isSymbolicLink()) return symlinkSync(readlinkSync(from), to)
  if (!stats.isDirectory()) return copyFile(from, to)
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) if (!except.includes(name)) copyTree(join(from, name), join(to, name))
}

/** Ten thousand files are linked in a tenth of the time. */
function copyFile (from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to) // on another file system
  }
}
