// What an operator has to decide: the transfer ended, and nothing was overwritten.

/** The transfer cannot go on; the message says why and how to mend it. */
export class TransferRefused extends Error {
  override readonly name = 'TransferRefused'
}

/** The target did not take an append. Another copy may have been first: a comparison shows it. */
export class NotTaken extends TransferRefused {}
