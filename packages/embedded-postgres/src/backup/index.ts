// The entry for backups of a DATA_DIR: one file, made while its Postgres runs, and restored into an empty directory.
export { backUp, type Backup, type BackupRequest } from './back-up.js'
export { restore, type Restored, type RestoreRequest } from './restore.js'
