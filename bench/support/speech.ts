// What is said in calls and written into prompts: as long as it usually is, and made from a seed.
import type { CallCompleted } from '../../src/features/calls/events.js'
import { random, type Random } from './random.js'

const words = `the a your our that this appointment invoice delivery contract renewal account number email address
  morning afternoon tomorrow today week please thank you yes no maybe of course could would should can will is was has
  been know call back later speak with someone about price offer customer service team question answer problem order
  confirm change cancel move book pay send receive naïve café Grüezi straße 名前 okay right well just really and but
  because before after until for to in on at`.split(/\s+/) as [string, ...string[]]

const writer = random(0)
const everything = Array.from({ length: 20_000 }, () => writer.pick(words)).join(' ')

/** A piece of so many characters. */
export function text (chance: Random, length: number): string {
  const from = chance.whole(0, everything.length - length)
  return everything.slice(from, from + length)
}

/** From two turns to a long talk; assistants speak longer than customers, and use a tool now and then. */
export function transcript (chance: Random): CallCompleted['transcript'] {
  const turns = chance.chance(0.15) ? chance.whole(1, 4) : chance.whole(6, 44)
  let at = 0
  return Array.from({ length: turns }, (_, index) => {
    at += chance.whole(8, 120) / 10
    const role = index > 0 && chance.chance(0.05) ? 'tool' : index % 2 === 0 ? 'assistant' : 'customer'
    const length = role === 'assistant' ? chance.whole(40, 180) : chance.whole(4, 90)
    return { role, text: text(chance, length), at: Math.round(at * 10) / 10 }
  })
}
