// The streams that events stand on, for the AsyncAPI document.
import { apiKeyStream } from '../../../src/domain/api-key/events.js'
import { assistantStream } from '../../../src/domain/assistant/events.js'
import { blacklistStream } from '../../../src/domain/blacklist/events.js'
import { callStream } from '../../../src/domain/call/events.js'
import { campaignStream } from '../../../src/domain/campaign/events.js'
import { catalogStreams } from '../../../src/domain/catalog/events.js'
import { leadStream } from '../../../src/domain/lead/events.js'
import { leadImportStream } from '../../../src/domain/lead-import/events.js'
import { personRequestStream } from '../../../src/domain/person/events.js'
import { personKeyStream, personOf } from '../../../src/domain/person-key/events.js'
import { phoneHolderStream, phoneNumberStream } from '../../../src/domain/phone-number/events.js'
import { markerStream } from '../../../src/domain/marker/events.js'
import { tokenStream } from '../../../src/domain/token/events.js'

const of = (stream: (id: number) => string) => stream(0).replace('0', '{id}')
export const streams = {
  call: callStream('{call_id}'),
  assistant: of(assistantStream),
  lead: leadStream(0, '{digest}').replace('0', '{campaign_id}'),
  leadImport: leadImportStream('{id}'),
  voices: catalogStreams.voices,
  languages: catalogStreams.languages,
  models: catalogStreams.models,
  campaign: of(campaignStream),
  phoneNumber: of(phoneNumberStream),
  phoneHolder: phoneHolderStream('{digest}'),
  apiKey: of(apiKeyStream),
  token: tokenStream('{digest}'),
  blacklist: blacklistStream('{user_digest}', '{number_digest}'),
  personRequest: personRequestStream('{id}'),
  personKey: personKeyStream(personOf('{user_digest}', '{number_digest}')),
  marker: markerStream
}
