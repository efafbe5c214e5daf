#!/usr/bin/env node
import { readFileSync } from 'node:fs'

// An older Node would end with a SyntaxError in what is imported below.
const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [needed, own] = [engines.node.replace('>=', ''), process.versions.node]
if (own.localeCompare(needed, 'en', { numeric: true }) < 0) {
  process.stderr.write(`embedded-event-store needs Node ${needed} or later, this is ${own}: install that version.\n`)
  process.exit(1)
}

await import('../dist/src/cli.js')
