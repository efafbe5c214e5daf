// Which files share a process, and which are taken first.
import t from 'tap'
import { roomsOf, takeRoom } from './rooms.js'

const files = (folder: string, count: number) => Array.from({ length: count }, (_, nth) => {
  const source = `${folder}/${nth}.test.ts`
  return { source, compiled: `/dist/${source}` }
})
const sourcesOf = (rooms: ReturnType<typeof roomsOf>) => rooms.map((room) => room.map(({ source }) => source))

t.test('small folders share a process, and no folder is parted', async (t) => {
  const folders = [files('test/a', 5), files('test/b', 6), files('test/c', 2), files('test/d', 12)]
  const [a = [], b = [], c = [], d = []] = folders
  t.strictSame(sourcesOf(roomsOf(folders.flat(), 12)), sourcesOf([[...a, ...b], c, d]))
})

t.test('files of a folder stay together when a folder below it is listed between them', async (t) => {
  const [first, ...others] = files('test/a', 3)
  if (!first) throw new Error('there are three')
  const below = files('test/a/below', 11)
  t.strictSame(sourcesOf(roomsOf([first, ...below, ...others], 12)), sourcesOf([[first, ...others], below]))
})

t.test('when no room waits, half of what is left of the fullest is taken', async (t) => {
  const [small, full, next] = [files('test/a', 2), files('test/b', 5), files('test/c', 1)]
  t.equal(takeRoom([next], [small, full]), next)
  t.strictSame(takeRoom([], [small, full]), files('test/b', 5).slice(3))
  t.equal(full.length, 3)
  t.equal(takeRoom([], [files('test/a', 1), []]), undefined)
})
