// Which rooms stand on which, inside of the rooms of .dependency-cruiser.js.

// Inner rooms, each of which may import those before it and none after it. A room and the rooms in it stand here too:
// the rule for circles of rooms takes them for one.
const layers = [
  [
    'projections/folding', 'projections/generations', 'projections/parking', 'projections/fill', 'projections/engine',
    'projections/replay', 'projections/(blacklist|catalog|keys)', 'projections/[^/]+[.]ts',
    'projections/(operate|persons)'
  ],
  ['projections/replay/verify', 'projections/replay/[^/]+[.]ts'],
  ['workers/passes', 'workers/deliveries', 'workers/queue', 'workers/(deliver|dispatch|operate|background|persons)', 'workers/imports']
]

/** The paths of a room, or of loose files, as a regular expression. */
export const place = (path) => path.endsWith('[.]ts') ? `^${path}$` : `^${path}/`

const layerRules = layers.flatMap((rooms) => rooms.slice(0, -1).map((room, index) => ({
  name: `layer ${room}`,
  comment: `${room} knows nothing of ${rooms.slice(index + 1).join(', ')}.`,
  severity: 'error',
  from: { path: place(room) },
  to: { path: rooms.slice(index + 1).map(place) }
})))

const noCircle = {
  name: 'no circle of rooms',
  comment: 'A room can be read without the rooms that need it.',
  severity: 'error',
  scope: 'folder',
  from: { path: '^(bin|src|projections|workers|packages|bench|examples)(/|$)' },
  to: { circular: true }
}

export const innerRules = [noCircle, ...layerRules]
