// Two erasures at once, in an order that is chosen: each stops at a point of its own, and goes on when it may.
import type { PassingOptions } from './passing.js'

type Pass = PassingOptions['pass']
export type Work = (pass: Pass) => Promise<unknown>

/** Where each of the two stops, as numbers of what it passes, from 1. Without one it does not stop. */
export interface Order {
  first: number
  second: number | undefined
  /** From then on both go on at once. Otherwise the first one comes to its end before the second one goes on. */
  together: boolean
}

/** The first one comes to its point, then the second one to its own, then they go on. */
export async function interleave (
  [one, two]: readonly [Work, Work], { first, second, together }: Order
): Promise<void> {
  const [ofOne, ofTwo] = [stopAt(first), stopAt(second)]
  const ones = one(ofOne.pass)
  await Promise.race([ones, ofOne.reached])
  const twos = two(ofTwo.pass)
  await Promise.race([ones, twos, ofTwo.reached])
  ofOne.goOn()
  if (!together) await Promise.race([ones, twos])
  ofTwo.goOn()
  await Promise.all([ones, twos])
}

/** What a work passes when nobody stops it. */
export async function pointsOf (work: Work): Promise<string[]> {
  const points: string[] = []
  await work((at) => void points.push(at))
  return points
}

function stopAt (point: number | undefined) {
  let [reach, goOn] = [() => {}, () => {}]
  const reached = new Promise<void>((resolve) => { reach = resolve })
  const mayGoOn = new Promise<void>((resolve) => { goOn = resolve })
  let count = 0
  return {
    reached,
    goOn,
    async pass () {
      count += 1
      if (count !== point) return
      reach()
      await mayGoOn
    }
  }
}
