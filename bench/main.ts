// `npm run bench`: this checkout, and another one that `--beside` names; or the bench that the first word names.
const [, , name = ''] = process.argv

if (name === '' || name.startsWith('-')) await import('./pair.js')
else {
  process.argv.splice(2, 1) // what is left are its options
  switch (name) {
    case 'event-store': await import('./event-store.js'); break
    case 'growth': await import('./growth.js'); break
    case 'peers': await import('./peers.js'); break
    default: throw new Error(`there is no bench ${name}: there are event-store, growth and peers`)
  }
}
