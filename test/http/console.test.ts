// What answers at the root of the service: the console for people, and where everything is for programs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot, packageVersion } from '../../src/package-root.js'
import { testService } from '../support/service.js'

const { url, start } = await testService(t, ['api'])
const asBrowser = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }

t.test('programs are told where everything is', async (t) => {
  const answer = await fetch(url)
  t.equal(answer.status, 200)
  t.same(await answer.json(), {
    name: 'Ringledger', version: packageVersion, docs: '/docs', console: '/', health: '/health/ready'
  })
})

t.test('browsers get a page whose scripts are files of ours, kept for good, and compressed', async (t) => {
  const answer = await fetch(url, { headers: asBrowser })
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', vary: /Accept/
  })
  const policy = answer.headers.get('content-security-policy') ?? ''
  t.match(policy, "default-src 'none'; script-src 'self';")
  t.notMatch(policy, /https?:|upgrade-insecure-requests/)
  const page = await answer.text()
  t.notMatch(page, /<script>|<style>|\son\w+=|https?:\/\//, 'nothing that the policy would stop, or from elsewhere')
  const files = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, file = '']) => file)
  t.equal(files.length, 2)
  for (const file of files) {
    t.match(file, /-[A-Z0-9]{8}\.(js|css)$/)
    const { status, headers } = await fetch(url + file)
    t.match({ status, ...Object.fromEntries(headers) }, {
      status: 200, 'cache-control': 'public, max-age=31536000, immutable', 'content-encoding': 'gzip'
    }, file)
  }
  for (const path of ['/console/', '/console/none.js', '/console/%2e%2e/metafile.json', '/console/..%2fmetafile.json']) {
    t.equal((await fetch(url + path)).status, 404, path)
  }
})

t.test('with a BASE_PATH it answers there, too, and leads below it', async (t) => {
  const { url } = await start(['api'], { BASE_PATH: '/voice' })
  for (const path of ['/', '/voice', '/voice/']) {
    t.match(await (await fetch(url + path)).json(), { docs: '/voice/docs', console: '/voice/' }, path)
    const page = await (await fetch(url + path, { headers: asBrowser })).text()
    const script = /src="(\/voice\/console\/[^"]+)"/.exec(page)?.[1] ?? ''
    t.equal((await fetch(url + script)).status, 200, `the script of ${path}`)
  }
})

t.test('other methods are refused with those that it takes', async (t) => {
  const answer = await fetch(url, { method: 'DELETE' })
  t.equal(answer.status, 405)
  t.equal(answer.headers.get('allow'), 'GET, HEAD')
})

t.test('the first page is less than 250 KB, compressed', (t) => {
  interface Output { entryPoint?: string, cssBundle?: string, imports: Array<{ path: string, kind: string }> }
  const folder = join(packageRoot, 'dist/console')
  const { outputs }: { outputs: Record<string, Output> } = JSON.parse(readFileSync(join(folder, 'metafile.json'), 'utf8'))
  const isFirst = /\/src\/(main|pages\/overview)\.tsx$/
  const entries = Object.entries(outputs).filter(([, { entryPoint = '' }]) => isFirst.test(entryPoint))
  const loaded = new Set<string>()
  const load = (path: string) => {
    if (loaded.has(path)) return
    loaded.add(path)
    const { cssBundle, imports } = outputs[path] ?? { imports: [] }
    if (cssBundle) loaded.add(cssBundle)
    for (const each of imports) if (each.kind === 'import-statement') load(each.path)
  }
  for (const [path] of entries) load(path)
  const bytes = [...loaded].reduce((sum, path) => sum + readFileSync(join(packageRoot, `${path}.gz`)).length, 0)
  t.equal(entries.length, 2)
  t.ok(bytes < 250_000, `${bytes} bytes`)
  t.comment(`${bytes} bytes`)
  t.end()
})
