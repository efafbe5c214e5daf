#!/usr/bin/env node
// Starts the compiled command line; in a checkout it compiles first when the sources are newer,
// so that the commands work after `npm ci` alone, also with install scripts switched off.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const isCheckout = existsSync(new URL('../tsconfig.json', import.meta.url))
if (isCheckout) (await import('./compile.js')).compileIfStale(root)

await import('../dist/programs/main.js')
