// What a reader asks for: a range of keys, and how much of it at once.

export type Direction = 'forward' | 'backward'

/** from <= key <= to, in that direction. */
export interface Range { direction: Direction, from: number, to: number }

/** The most that one page may hold: so many events, or so many bytes of them, but always one event. */
export interface PageSize { events: number, bytes: number }
