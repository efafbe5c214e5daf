// Where the log says which key made the names of its streams of leads.

export const settingsStream = 'ringledger-settings'
