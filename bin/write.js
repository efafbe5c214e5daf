// Puts what esbuild makes in its place, each file as a whole: a process that starts meanwhile reads the former module
// or the new one, never a part of one.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { build } from 'esbuild'

/** A name that changes with the content: nobody imports it before who imports it is there. */
const hashed = /-[A-Z0-9]{8}\.js(?:\.map)?$/

/** As esbuild's own `build`, whose `options` these are; that one writes over files that are being read. */
export async function buildInPlace (options) {
  const { outputFiles } = await build({ ...options, write: false })
  for (const file of outputFiles.filter(({ path }) => hashed.test(path))) replace(file)
  for (const file of outputFiles.filter(({ path }) => !hashed.test(path))) replace(file)
}

function replace ({ path, contents }) {
  const aside = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(aside, contents)
  renameSync(aside, path)
}
