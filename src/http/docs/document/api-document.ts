// The API document as it is served: made of what the plugin found in the routes, for people and for generators of code.
import { shareRefusals } from './any-refusal.js'
import { sayOnce } from './said-once.js'
import { shareSecurity } from './shared-security.js'
import { shareParts, type Operation } from './shared-parts.js'
import { shown, type Named } from './shown-schemas.js'

interface Made { paths?: object, components?: object }

export interface Origin {
  /** Where the API is found, for clients. */
  servers: Array<{ url: string }>
  /** Where it is found without BASE_PATH, if that is another place. */
  root?: { url: string }
}

/**
 * Where the API is by PUBLIC_URL, which names the place of `/health` and may have BASE_PATH at its end. Without it,
 * wherever the document is.
 */
export function originOf (basePath: string, publicUrl = ''): Origin {
  const url = publicUrl.replace(/\/+$/, '')
  const root = basePath && url.endsWith(basePath) ? url.slice(0, -basePath.length) : url
  return { servers: [{ url: `${root}${basePath}` || '/' }], ...(basePath && { root: { url: root || '/' } }) }
}

/** The document with its webhooks. @throws when two different parts of it have one name */
export function apiDocument<Api extends Made> (made: Api, webhooks: object, { servers, root }: Origin): Api {
  const schemas: Named = {}
  const paths = pathsOf(shown(made.paths ?? {}, schemas))
  const received = pathsOf(shown(webhooks, schemas))
  shareRefusals(operationsOf(paths))
  sayOnce(schemas)
  const security = shareSecurity(operationsOf(paths))
  const parts = shareParts([...operationsOf(paths), ...operationsOf(received)])
  if (root) placeProbes(paths, root)
  const components = { ...made.components, schemas: withoutExamples(schemas), ...parts }
  return { ...made, servers, security, paths, webhooks: received, components }
}

/** Bodies and answers have examples as a whole. */
const withoutExamples = (schemas: Named): Named => JSON.parse(JSON.stringify(schemas, (key, value: unknown) =>
  key === 'examples' && Array.isArray(value) ? undefined : value))

type Paths = Record<string, Record<string, Operation & { servers?: object[] }>>

/** What the plugin and the webhooks have for paths, rewritten. */
const pathsOf = (paths: unknown): Paths => paths as Paths

const operationsOf = (paths: Paths) => Object.values(paths).flatMap((methods) => Object.values(methods))

/** Probes do not depend on BASE_PATH. */
function placeProbes (paths: Paths, root: { url: string }): void {
  const probes = Object.entries(paths).filter(([path]) => path.startsWith('/health/'))
  for (const operation of operationsOf(Object.fromEntries(probes))) operation.servers = [root]
}
