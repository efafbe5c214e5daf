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
  { path: 'assistants/:id/history', load: async () => (await import('./pages/assistant-history.js')).AssistantHistory },
  { path: 'assistants/:id/webhook', load: async () => (await import('./pages/assistant-webhook.js')).AssistantWebhook },
  { path: 'campaigns', name: 'Campaigns', load: async () => (await import('./pages/campaigns.js')).Campaigns },
  { path: 'leads', name: 'Leads', load: async () => (await import('./pages/leads.js')).Leads },
  { path: 'leads/new', load: async () => (await import('./pages/lead.js')).NewLead },
  { path: 'leads/import', load: async () => (await import('./pages/lead-import.js')).ImportLeads },
  { path: 'leads/import/:id', load: async () => (await import('./pages/lead-import.js')).LeadImport },
  { path: 'leads/:id', load: async () => (await import('./pages/lead.js')).Lead },
  { path: 'calls', name: 'Calls', load: async () => (await import('./pages/calls.js')).Calls },
  { path: 'calls/:id', load: async () => (await import('./pages/call.js')).Call },
  { path: 'webhooks', name: 'Webhooks', load: async () => (await import('./pages/deliveries.js')).Deliveries },
  { path: 'webhooks/:id', load: async () => (await import('./pages/delivery.js')).Delivery },
  { path: 'numbers', name: 'Phone numbers', load: async () => (await import('./pages/numbers.js')).Numbers },
  { path: 'do-not-call', name: 'Do not call', load: async () => (await import('./pages/numbers.js')).DoNotCall },
  { path: 'persons', name: 'Persons', load: async () => (await import('./pages/persons.js')).Persons },
  { path: 'api-keys', name: 'API keys', load: async () => (await import('./pages/api-keys.js')).ApiKeys }
]

const operator: Omit<PageOfConsole, 'role'>[] = [
  { path: '', name: 'Overview', load: async () => (await import('./pages/ops/overview.js')).Overview },
  { path: 'projections', name: 'Projections', load: async () => (await import('./pages/ops/projections.js')).Projections },
  { path: 'projections/:name', load: async () => (await import('./pages/ops/projection.js')).Projection },
  { path: 'parked', name: 'Parked events', load: async () => (await import('./pages/ops/parked.js')).Parked },
  { path: 'deliveries', name: 'Deliveries', load: async () => (await import('./pages/ops/deliveries.js')).Deliveries },
  { path: 'deliveries/:id', load: async () => (await import('./pages/ops/delivery.js')).Delivery },
  { path: 'webhooks', name: 'Failing webhooks', load: async () => (await import('./pages/ops/webhooks.js')).Webhooks },
  { path: 'work', name: 'Background', load: async () => (await import('./pages/ops/work.js')).Work },
  { path: 'doctor', name: 'Doctor and settings', load: async () => (await import('./pages/ops/doctor.js')).Doctor }
]

export const pages: readonly PageOfConsole[] = [
  ...user.map((page) => ({ ...page, role: 'user' as const })), ...operator.map((page) => ({ ...page, role: 'ops' as const }))
]
