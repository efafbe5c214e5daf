// Entry point for backups of a DATA_DIR: one file, made while its Postgres runs, restored into an empty directory.
export { backUp } from './back-up.js'
export { restore } from './restore.js'
