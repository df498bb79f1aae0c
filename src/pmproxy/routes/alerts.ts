/** /ui/api/alerts: alerts of this host, from the log that `npm start` writes. docs/reference/pmproxy.md, docs/reference/alerts.md */
import { readFile, stat } from 'node:fs/promises'
import {
  ACTIVE_SUFFIX,
  type Alert,
  type AlertAnswer,
  MOST_LOG_BYTES,
  readAlerts,
  withWorstValues,
} from '../../alerts/events.ts'
import { requireUser } from '../http/login.ts'
import { json, type Reply } from '../http/reply.ts'
import type { WebRequest } from '../http/request.ts'
import type { Services } from '../services.ts'
import { isNamed, type WebUser } from '../web-user.ts'
import { moment } from './page-call.ts'

/** Most ended alerts of an answer. */
const MOST_ENDED = 1000

/** The log as it was read last, by path. Servers have one log. */
let known:
  | {
      readonly path: string
      readonly stamp: string
      /** The stamp without that of the worst values. */
      readonly version: string
      readonly alerts: readonly Alert[]
    }
  | undefined

/** Handles the route. Without a log the lists are empty. PM_ERR_ARG for invalid times. */
export async function alerts(
  { query }: Pick<WebRequest, 'query'>,
  services: Services,
  user: WebUser,
): Promise<Reply> {
  await requireUser(services, user, true)
  const from = moment(query.get('from'), 'from', Number.NEGATIVE_INFINITY)
  const to = moment(query.get('to'), 'to', Number.POSITIVE_INFINITY)
  const path = services.config.alertLog
  const now = path === undefined ? undefined : await stat(path).catch(() => undefined)
  const log = path === undefined || now === undefined ? undefined : await readLog(path, now)
  const all = log?.alerts ?? []
  const shown = all.filter(({ until }) => until === null)
  const ended = all.filter(({ at, until }) => until !== null && at <= to && until >= from)
  const answer: AlertAnswer = {
    alerts: [...shown, ...ended.slice(-MOST_ENDED)].reverse().map((alert) => seenBy(user, alert)),
    version: log?.version ?? '',
    leftOut: Math.max(0, ended.length - MOST_ENDED),
    evaluated: now === undefined ? null : now.mtimeMs / 1000,
  }
  return json(JSON.stringify(answer))
}

/** Rules of the user may be about processes, whose instances are only for users with a login, as in archives. */
function seenBy(user: WebUser, alert: Alert): Alert {
  return isNamed(user) || alert.isDefault ? alert : { ...alert, instance: '' }
}

async function readLog(
  path: string,
  { size }: { readonly size: number },
): Promise<NonNullable<typeof known>> {
  const [older, worst] = await Promise.all(
    [`${path}.1`, path + ACTIVE_SUFFIX].map((file) => stat(file).catch(() => undefined)),
  )
  const version = `${size} ${older?.size ?? 0} ${older?.mtimeMs ?? 0}`
  const stamp = `${version} ${worst?.ino} ${worst?.mtimeMs}`
  if (known?.path === path && known.stamp === stamp) return known
  const [activeText, ...texts] = await Promise.all([path + ACTIVE_SUFFIX, `${path}.1`, path].map(readBounded))
  const found = withWorstValues(readAlerts(texts.join('\n')), activeText!)
  known = { path, stamp, version, alerts: found }
  return known
}

/** Reads a log. A file that our recorder of alerts did not write may be of any size, and is left out. */
async function readBounded(path: string): Promise<string> {
  const { size } = await stat(path).catch(() => ({ size: 0 }))
  return size === 0 || size > MOST_LOG_BYTES ? '' : await readFile(path, 'utf8')
}
