// Notices that npm is gone: it signals only the shell that it runs a script in, and that passes nothing on.

/**
 * Calls `onLost` once when the parent process has ended, if npm started this process. It checks every `everyMs`
 * milliseconds, and keeps no process alive. Without npm the operator may want this process to outlive its parent.
 * @returns a function that stops the checks: call it when closing begins, or one signal to the whole group counts twice
 */
export function watchParent (onLost: () => void, everyMs = 1_000): () => void {
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
