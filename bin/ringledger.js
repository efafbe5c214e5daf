#!/usr/bin/env node
// Starts the compiled command line; in a checkout it compiles first when the sources are newer,
// so that the commands work after `npm ci` alone, also with install scripts switched off.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// An older Node would end with a SyntaxError in what is imported below.
const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [needed, own] = [engines.node.replace('>=', ''), process.versions.node]
if (own.localeCompare(needed, 'en', { numeric: true }) < 0) {
  process.stderr.write(`ringledger needs Node ${needed} or later, this is ${own}: install that version.\n`)
  process.exit(1)
}

const root = fileURLToPath(new URL('..', import.meta.url))
const isCheckout = existsSync(new URL('../tsconfig.json', import.meta.url))
if (isCheckout) (await import('./compile.js')).compileIfStale(root)

await import('../dist/programs/main.js')
