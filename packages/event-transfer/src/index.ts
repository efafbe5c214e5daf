// Entry point: copy a log to another store or a file, and back.
export { exportTo, exportToFile } from './export.js'
export { openExport } from './import.js'
export { TransferRefused } from './failure.js'
export { logOf } from './source.js'
export { Store } from './store.js'
export { isSameLog, transfer, type Transferred } from './transfer.js'
