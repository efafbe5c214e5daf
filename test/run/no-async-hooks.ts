// Keeps tap from following every promise of a test to know whose error is not caught: with a hook, each promise of the
// service under test costs several times as much. `Uncaught` does it instead. Imported before tap.
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const silent = { enable: () => silent, disable: () => silent }
Object.assign(asyncHooks, { createHook: () => silent })
syncBuiltinESMExports()
