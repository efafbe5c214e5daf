// Notices that npm is gone: it signals only the shell that it runs a script in, and that passes nothing on.

/**
 * Calls `onLost` once when the parent process has ended, looking every `everyMs` milliseconds, if npm
 * started this process (else outliving the parent is what the operator asked for). Keeps no process
 * alive by itself. Returns a function that stops the watch: call it when closing has begun, lest one
 * signal to the whole group count twice.
 */
export function watchParent (onLost: () => void, everyMs = 250): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {}
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    onLost()
  }, everyMs)
  watch.unref()
  return () => clearInterval(watch)
}
