// `npm run check`: types, style and imports. Types and style share the programs of TypeScript: to check every
// expression takes most of the time, and is done once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ESLint } from 'eslint'
import ts from 'typescript'

const imports = checkImports() // on the other core
const programs = ['tsconfig.json', 'packages/console/tsconfig.json'].map(programOf)
tell('typecheck', checkTypes())
tell('lint:style', await checkStyle())
tell('lint:imports', await imports)

function programOf (file) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => { throw new Error(inWords([problem])) } }
  const { fileNames: rootNames, options } = ts.getParsedCommandLineOfConfigFile(file, { noEmit: true }, host)
  return ts.createProgram({ rootNames, options })
}

function checkTypes () {
  return programs.map((program) => inWords(ts.getPreEmitDiagnostics(program))).join('')
}

function inWords (problems) {
  const { getCurrentDirectory } = ts.sys
  return ts.formatDiagnostics(problems, { getCurrentDirectory, getCanonicalFileName: (name) => name, getNewLine: () => '\n' })
}

async function checkStyle () {
  const parserOptions = { projectService: false, programs }
  const eslint = new ESLint({ overrideConfig: { files: ['**/*.ts', '**/*.tsx'], languageOptions: { parserOptions } } })
  const results = await eslint.lintFiles('.') // a warning is shown, and fails as well
  return await (await eslint.loadFormatter()).format(results)
}

async function checkImports () {
  const child = spawn('npm', ['run', '--silent', 'lint:imports'], { stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text })
  const [status] = await once(child, 'close')
  return status === 0 ? '' : output
}

function tell (name, problems) {
  process.stdout.write(`${problems}${name}: ${problems === '' ? 'ok' : 'FAILED'}\n`)
  if (problems !== '') process.exitCode = 1
}
