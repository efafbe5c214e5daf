// Chance that repeats itself: the same seed gives the same numbers on every machine.

export interface Random {
  /** A whole number, both included. */
  whole (least: number, most: number): number
  /** True in this share (0 to 1) of the cases. */
  chance (share: number): boolean
  pick<Item> (items: readonly [Item, ...Item[]]): Item
  /** So many hexadecimal digits. */
  hex (digits: number): string
  uuid (): string
}

export function random (seed: number): Random {
  const next = mulberry32(seed)
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  const eightDigits = () => whole(0, 2 ** 32 - 1).toString(16).padStart(8, '0')
  const hex = (digits: number): string => digits <= 8 ? eightDigits().slice(0, digits) : eightDigits() + hex(digits - 8)
  return {
    whole,
    hex,
    chance: (share) => next() < share,
    pick: (items) => items[whole(0, items.length - 1)] ?? items[0],
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`
  }
}

/** Tommy Ettinger's generator of 32 bits of state: 0 up to 1. */
function mulberry32 (seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
