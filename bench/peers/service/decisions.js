// The aggregates as Emmett's guide writes them: events, a fold, and decisions that need the state.

/** @returns {{ type: string, data: object }} */
export function createLead (user, body, id, now) {
  const { phone_number, campaign_id, variables = {} } = body
  const data = { lead_id: id, user_id: user, phone_number, campaign_id, variables, created_at: now }
  return (state) => {
    if (state.lead) throw new Refused(422, 'is already a lead of this campaign')
    return { type: 'PeerLeadCreated', data }
  }
}

export const createAssistant = (user, settings, id, now) => () =>
  ({ type: 'PeerAssistantCreated', data: { assistant_id: id, user_id: user, settings, created_at: now } })

export const updateAssistant = (user, changes, now) => (state) => {
  if (state.assistant?.user_id !== user) throw new Refused(404, 'Assistant not found')
  return { type: 'PeerAssistantUpdated', data: { assistant_id: state.assistant.assistant_id, changes, updated_at: now } }
}

/** What a caller is told. */
export class Refused extends Error {
  constructor (statusCode, message) {
    super(message)
    this.statusCode = statusCode
  }
}

export const initialState = () => ({})

export function evolve (state, { type, data }) {
  switch (type) {
    case 'PeerLeadCreated': return { lead: data }
    case 'PeerAssistantCreated': return { assistant: data }
    case 'PeerAssistantUpdated': {
      const settings = { ...state.assistant.settings, ...data.changes }
      return { assistant: { ...state.assistant, settings, updated_at: data.updated_at } }
    }
    default: return state
  }
}

export const eventTypes = ['PeerLeadCreated', 'PeerAssistantCreated', 'PeerAssistantUpdated']
export const leadStream = (campaignId, phoneNumber) => `peerlead-${campaignId}-${phoneNumber.slice(1)}`
export const assistantStream = (id) => `peerassistant-${id}`
