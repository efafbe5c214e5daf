// Where the streams of the AsyncAPI document are.

export const servers = {
  embedded: {
    host: '127.0.0.1:{port}',
    protocol: 'esdb',
    title: 'The event store of `ringledger start`',
    description: 'Without EVENTSTORE_URL. Connect to `esdb://127.0.0.1:{port}?tls=false`; there is no login, and only ' +
      'programs on the same machine reach it.',
    variables: {
      port: { default: '2113', description: 'EMBEDDED_EVENTSTORE_PORT; `start` prints it, and keeps it.' }
    }
  },
  own: {
    host: '{host}',
    protocol: 'esdb',
    title: 'An EventStoreDB or KurrentDB of your own',
    description: 'With EVENTSTORE_URL: the same URL, with a login of the engine that may write streams `call-...`.',
    variables: {
      host: { default: 'localhost:2113', description: 'A node, or the members of a cluster with commas between them.' }
    }
  }
}
