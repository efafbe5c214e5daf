// Keeps the jobs of BullMQ in Redis.
import { once } from 'node:events'
import { createRedisBackend, type ConnectionOptions } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import type { BackEnd } from './back-end.js'
import { endsWithin } from '../../src/timing.js'
import { redisTeller } from './redis-trouble.js'

const firstConnectionMs = 2_000
/** A worker that waits for a job gets an answer within five seconds, with or without a job. */
const waitsForJobsMs = 15_000

/** Redis may be down: then the queue works as soon as Redis is up. */
export async function redisBackEnd (
  url: string, log: { warn (details: object, message: string): void }, answerWithinMs: number
): Promise<BackEnd<ConnectionOptions>> {
  let isOver = false // BullMQ may connect anew after that, and would try for ever where Redis is gone
  const always: RedisOptions = {
    connectTimeout: answerWithinMs,
    retryStrategy: (times) => isOver ? null : Math.min(times * 100, 2_000),
    socketTimeout: answerWithinMs, // a connection that says nothing is closed, and another one opened
    reconnectOnError: (error) => error.message.startsWith('READONLY') ? 2 : false // the primary is another server now
  }
  // When Redis is down, a producer fails at once, and a worker waits without end.
  const producer = new Redis(url, {
    ...always, enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: answerWithinMs
  })
  const worker = new Redis(url, { ...always, maxRetriesPerRequest: null })
  const copies = rememberCopies(worker)
  const teller = redisTeller(url, log)
  for (const connection of [producer, worker]) connection.on('error', teller.away)
  producer.on('ready', () => { producer.info().then(teller.there, () => {}) })
  await endsWithin(firstConnectionMs, once(producer, 'ready'))
  return {
    factory: createRedisBackend,
    isTold: () => producer.status !== 'ready' || worker.status !== 'ready',
    producer,
    worker,
    disconnect () {
      isOver = true
      for (const connection of [producer, worker, ...copies]) connection.disconnect()
    }
  }
}

/**
 * BullMQ blocks on a copy of the worker's connection, and cannot drop that copy while Redis is down. While it waits for
 * a job, a copy is silent, so its timeout is longer.
 */
function rememberCopies (connection: Redis): Redis[] {
  const copies: Redis[] = []
  const duplicate = connection.duplicate.bind(connection)
  connection.duplicate = (override) => {
    const copy = duplicate({ ...override, socketTimeout: waitsForJobsMs })
    copies.push(copy)
    return copy
  }
  return copies
}
