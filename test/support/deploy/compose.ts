// docker-compose.yml, as Compose reads it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { packageRoot } from '../../../src/package-root.js'

export interface Service {
  image: string
  build?: string | { context: string, target: string }
  command?: string[]
  profiles?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
}

export const composeFile = join(packageRoot, 'docker-compose.yml')

export const { services }: { services: Record<string, Service> } = parse(readFileSync(composeFile, 'utf8'), { merge: true })

/** The names of the settings that .env.example offers. */
export const offeredSettings = [...readFileSync(join(packageRoot, '.env.example'), 'utf8').matchAll(/^([A-Z_]+)=/gm)]
  .map(([, name = '']) => name)
