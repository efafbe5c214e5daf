// The types of packages/client are those of the API document; npm run docs:client writes them anew.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import t from 'tap'
import { testService } from '../support/service.js'

const file = 'packages/client/src/api.ts'
const head = '// Made from the API document by `npm run docs:client`. Do not change it by hand.\n\n'

const { call } = await testService(t, ['api'])

t.test('packages/client has the types of the API document; npm run docs:client writes them anew', async (t) => {
  const { body } = await call('GET', '/docs/json')
  const made = head + astToString(await openapiTS(body))
  if (process.env.TAP_SNAPSHOT === '1') await writeFile(file, made)
  t.ok(await readFile(file, 'utf8') === made, `${file} is out of date: npm run docs:client writes it anew`)
})
