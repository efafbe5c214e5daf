// The entry of the package: a log to another store or a file, and back.
export { exportTo, exportToFile } from './export-events.js'
export { openExport } from './import-file.js'
export { TransferRefused } from './refused.js'
export { openStore, type Store } from './store.js'
export { isSameLog, logOf, transfer, type Transferred } from './transfer.js'
