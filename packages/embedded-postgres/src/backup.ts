// The entry for backups of a DATA_DIR: one file, made while its Postgres runs, and restored into an empty directory.
export { backUp } from './back-up.js'
export { restore } from './restore.js'
