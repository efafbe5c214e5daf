// Which pages there are. Each is loaded when it is opened.
import type { ComponentType } from 'react'
import type { Role } from './session.js'

export interface PageOfConsole {
  role: Role
  /** Below `#/`. */
  path: string
  /** In the navigation; pages without one are reached from others. */
  name?: string
  load: () => Promise<ComponentType>
}

const user: Omit<PageOfConsole, 'role'>[] = [
  { path: '', name: 'Overview', load: async () => (await import('./pages/overview.js')).Overview },
  { path: 'assistants', name: 'Assistants', load: async () => (await import('./pages/assistants.js')).Assistants },
  { path: 'assistants/new', load: async () => (await import('./pages/assistant.js')).NewAssistant },
  { path: 'assistants/:id', load: async () => (await import('./pages/assistant.js')).Assistant },
  { path: 'webhooks', name: 'Webhooks', load: async () => (await import('./pages/deliveries.js')).Deliveries },
  { path: 'webhooks/:id', load: async () => (await import('./pages/delivery.js')).Delivery }
]

const operator: Omit<PageOfConsole, 'role'>[] = [
  { path: '', name: 'Overview', load: async () => (await import('./pages/ops/overview.js')).Overview }
]

export const pages: readonly PageOfConsole[] = [
  ...user.map((page) => ({ ...page, role: 'user' as const })), ...operator.map((page) => ({ ...page, role: 'ops' as const }))
]
