// Helps a small main program that a test runs as a process of its own.

/** Tells the test, which reads a JSON object a line. */
export function say (message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

/** Settles at SIGTERM or SIGINT; the process lives until then. */
export function signalled (): Promise<void> {
  const alive = setInterval(() => {}, 60_000)
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        clearInterval(alive)
        resolve()
      })
    }
  })
}
