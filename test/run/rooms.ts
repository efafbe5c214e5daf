// Which test files share a process.
import { dirname } from 'node:path'
import type { TestFile } from './files.js'

/** Starting a process and warming it up takes longer than most files. More than this many share its state too long. */
const roomSize = 24

/** Files that get a process of their own, each with the reason. */
const alone: Record<string, string> = {
  'test/workers/deliver/no-growth.test.ts': 'it measures memory, of which other files leave some behind'
}

/** Whole folders, small ones together with their neighbours. */
export function roomsOf (files: readonly TestFile[], size = roomSize): TestFile[][] {
  const isAlone = ({ source }: TestFile) => source in alone
  const rooms = files.filter(isAlone).map((file) => [file])
  let room: TestFile[] = []
  for (const folder of foldersOf(files.filter((file) => !isAlone(file)))) {
    if (room.length > 0 && room.length + folder.length > size) {
      rooms.push(room)
      room = []
    }
    room.push(...folder)
  }
  return room.length > 0 ? [...rooms, room] : rooms
}

/** Takes the next room; when all are taken, half of what is left of the fullest one. */
export function takeRoom (waiting: TestFile[][], taken: readonly TestFile[][]): TestFile[] | undefined {
  const next = waiting.shift()
  if (next) return next
  const fullest = taken.reduce<TestFile[]>((one, other) => one.length >= other.length ? one : other, [])
  return fullest.length > 1 ? fullest.splice(Math.ceil(fullest.length / 2)) : undefined
}

function foldersOf (files: readonly TestFile[]): TestFile[][] {
  const folders = new Map<string, TestFile[]>()
  for (const file of files) {
    const folder = dirname(file.source)
    folders.set(folder, [...folders.get(folder) ?? [], file])
  }
  return [...folders.values()]
}
