// `ringledger start`: all roles in one process, with embedded back ends where no URL is set.
import { packageVersion } from '../package-root.js'

export async function start (): Promise<void> {
  const [{ serve }, { placesOf, welcome }] = await Promise.all([import('./serve.js'), import('./running/welcome.js')])
  const { config, backEnds, service, voice } = await serve('start', 'ringledger start', ['api', 'projector', 'worker'])
  await backEnds.publish({ url: service.url })
  const eventStoreUrl = config.backEnds.eventStoreUrl ? undefined : backEnds.urls.eventStoreUrl
  const places = placesOf(service.url, config, { folder: backEnds.embeddedIn, eventStoreUrl })
  if (process.stdout.isTTY) process.stdout.write(await welcome(places, config))
  else voice.say(`Ringledger ${packageVersion} is listening on ${places.url}`, { ...places })
}
