// What a role logs where no terminal is: lines of JSON.

/** Where it listens, by the whole output so far; nothing until it listens. */
export const listeningUrl = (stdout: string): string | undefined => /is listening on ([^\s"]+)/.exec(stdout)?.[1]

/** Why a command ended, as it told people, or in the one line that a role writes. */
export const reasonIn = (stderr: string): string => stderr.startsWith('{') ? JSON.parse(stderr).msg : stderr
