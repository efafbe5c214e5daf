// What Postgres notifies, as long as a test runs.
import { openNotifications, type Notifications, type NotificationsOptions } from '../../../src/postgres/notifications.js'
import type { Teardown } from '../teardown.js'

export function notificationsOf (
  t: Teardown, databaseUrl: string, options: Partial<NotificationsOptions> = {}
): Notifications {
  const notifications = openNotifications({ databaseUrl, onError: () => {}, ...options })
  t.teardown(() => notifications.close())
  return notifications
}

/** Hears of nothing. */
export const deaf = (t: Teardown): Notifications => notificationsOf(t, 'postgres://nobody@127.0.0.1:1/none')
