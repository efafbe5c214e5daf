// The entry of the package: a log to another store or a file, and back.
export { exportTo, exportToFile } from './file/export.js'
export { openExport } from './file/import.js'
export { TransferRefused } from './refused.js'
export { openStore, type Store } from './store.js'
export { isSameLog, logOf, transfer, type Transferred } from './transfer.js'
