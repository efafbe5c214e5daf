// What erasures leave in the log, in words, for the AsyncAPI document.

export const erasures = {
  CallErased: {
    stream: 'call',
    summary: 'The person of a call was erased: this is what is left of it.',
    description: `All events of the stream before it are hidden by \`$tb\`, and gone after a scavenge. The call counts once all the same, and
the status of its lead still follows from it. Reports of the call that come later are duplicates.`
  },
  LeadErased: {
    stream: 'lead',
    summary: 'The person of a lead, or of secondary contacts of it, was erased.',
    description: `As if the lead, or the contacts, had never been, but for their ids, which are not given out again. The events before it stay: their
key is gone, so nobody can read them.`
  },
  BlacklistEntryErased: {
    stream: 'blacklist',
    summary: 'The person of a do-not-call entry was erased. The entry still holds.',
    description: `The digest in the name of the stream stands for the number, which is nowhere any more. All events of the stream before it are hidden
by \`$tb\`, and gone after a scavenge.`
  }
} as const
