// `npm run docs:site`: writes the documents as a site that needs no server. An argument names another folder.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildSite } from './build-site.js'

const folder = resolve(process.argv[2] ?? 'site')
const pages = await buildSite(folder)
process.stdout.write(`${pages} pages: ${pathToFileURL(`${folder}/index.html`)}\n`)
