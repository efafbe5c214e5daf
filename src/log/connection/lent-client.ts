// A client of the package for those who are handed one, such as a transfer of events.
import { EventStoreDBClient } from '@eventstore/db-client'
import { clientUrl } from './client-url.js'

/** It looks for another member by itself; what that rejects with is caught here, and met again by the next call. */
export function lentClient (eventStoreUrl: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(clientUrl(eventStoreUrl))
  const handleError = client['handleError']
  client['handleError'] = (channel, error) => handleError(channel, error).catch(() => {})
  return client
}
