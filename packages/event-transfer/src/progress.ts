// How far a transfer is.

export interface Progress {
  doing: 'comparing' | 'appending' | 'verifying' | 'exporting' | 'checking'
  /** Since this began. */
  events: number
  /** 0 to 1, by places in the log; absent where the end is not known. */
  done?: number
}
