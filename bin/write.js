// Puts what esbuild makes in its place, each file as a whole: a process that starts meanwhile reads the former module
// or the new one, never a part of one.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { build } from 'esbuild'

/** A name that changes with the content: nobody imports it before who imports it is there. */
const hashed = /-[A-Z0-9]{8}\.(?:js|css)(?:\.map|\.gz)?$/

/**
 * As esbuild's own `build`, whose `options` these are and whose result is returned; that one writes over files that are
 * being read. `filesOf` gives what is written for a file that was made.
 */
export async function buildInPlace (options, filesOf = (file) => [file]) {
  const result = await build({ ...options, write: false })
  const files = result.outputFiles.map(classesNamed).flatMap(filesOf)
  for (const file of files.filter(({ path }) => hashed.test(path))) replace(file)
  for (const file of files.filter(({ path }) => !hashed.test(path))) replace(file)
  return result
}

/**
 * `keepNames` names each closure whenever it is made, which was a fifth of the CPU of a request. So only classes are
 * named, once each: errors are told by their names.
 */
function classesNamed ({ path, contents, text }) {
  if (!path.endsWith('.js') || !text.includes('__name')) return { path, contents }
  return {
    path,
    contents: text.replaceAll(/__name\(this, ?("[^"]*")\)/g, '__name(this,$1,true)').replace(
      /var __name ?= ?\(target, ?value\) ?=> ?__defProp\(/,
      'var __name=(target,value,isClass)=>!isClass?target:__defProp(')
  }
}

function replace ({ path, contents }) {
  const aside = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(aside, contents)
  renameSync(aside, path)
}
