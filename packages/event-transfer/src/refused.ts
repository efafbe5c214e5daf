// What an operator has to decide: the transfer ended, and nothing was overwritten.

/** The transfer cannot go on; the message says why and how to mend it. */
export class TransferRefused extends Error {
  override readonly name = 'TransferRefused'
}

/** The target did not take an append, because its stream is elsewhere than expected. */
export class OtherRevision extends TransferRefused {}
