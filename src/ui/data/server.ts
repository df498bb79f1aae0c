/** Sources behind pmproxy. docs/reference/pmproxy.md */

import type { AlertAnswer } from '../../alerts/events.ts'
import type { ChangeQuery } from '../../analysis/what-changed.ts'
import type { ChartRange } from '../../archive/chart-answer.ts'
import { decodeChartRange } from '../../archive/chart-bytes.ts'
import type { FleetAnswer, FleetLiveAnswer } from '../../archive/fleet/answer.ts'
import type { FiringsQuery } from '../../rules/firings.ts'
import { hostKey } from '../view/view.ts'
import { batched } from './batch.ts'
import { forgetKey, pageKey } from './key.ts'
import { remembered } from './remembered.ts'
import {
  type ArchiveInfo,
  type ConfigAnswer,
  type InstanceInfo,
  isFailure,
  type MetricDetails,
  type MetricOutcome,
  type RangeQuery,
  RequestError,
} from './responses.ts'
import type { Source } from './source.ts'

const API = '/ui/api'
const PATIENCE_MS = 30_000
/** Longest query in a URL, less than the server's limit; longer ones are sent as a form. */
const LONGEST_QUERY = 7000

type Parameters = Readonly<Record<string, string | number | readonly string[]>>

async function request(path: string, parameters: Parameters, signal?: AbortSignal): Promise<Response> {
  // Not URLSearchParams, because PCP's web API takes a plus literally.
  const text = Object.entries(parameters)
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${encodeURIComponent(one)}`))
    .join('&')
  try {
    const key = pageKey()
    const late = AbortSignal.timeout(PATIENCE_MS)
    const form =
      text.length > LONGEST_QUERY && new Blob([text], { type: 'application/x-www-form-urlencoded' })
    const response = await fetch(`${API}/${path}${text === '' || form ? '' : `?${text}`}`, {
      ...(form && { method: 'POST', body: form }),
      // Without `any`, in browsers before 2024, requests that are not needed any more run to their end.
      signal: signal === undefined ? late : (AbortSignal.any?.([late, signal]) ?? late),
      ...(key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } }),
    })
    // Of an outdated key. A host that wants a login leaves it valid.
    if (!/^Bearer\b/i.test(response.headers.get('WWW-Authenticate') ?? '') || key === undefined)
      return response
    forgetKey()
    return await request(path, parameters, signal)
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError'
    throw new RequestError(
      isLate ? `pmproxy did not answer within ${PATIENCE_MS / 1000} s` : 'pmproxy cannot be reached',
    )
  }
}

async function ask<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const response = await request(path, parameters, signal)
  const answer: unknown = await response.json().catch(() => undefined)
  if (!response.ok || answer === undefined) throw refusal(response, answer)
  return answer as T
}

/** Returns the error of a failed response. */
function refusal({ status }: Response, answer: unknown): RequestError {
  const { message, code } = (answer ?? {}) as { message?: string; code?: string }
  return new RequestError(message ?? `pmproxy returned HTTP status ${status}`, code)
}

async function askRange(which: Parameters, query: RangeQuery): Promise<ChartRange> {
  const { names, derive, start, finish, points, aligned } = query
  const bytes = await serverBytes('range', {
    ...which,
    names: names.join(','),
    derive: Object.entries(derive).map(([name, expr]) => `${name}=${expr}`),
    start,
    finish,
    points,
    ...(aligned === true ? { aligned: 1 } : {}),
    format: 'columns',
  })
  return decodeChartRange(bytes)
}

function changeParameters({ span, before, limit }: ChangeQuery): Parameters {
  return {
    start: span.start,
    finish: span.finish,
    ...(before === undefined ? {} : { before: before.start, until: before.finish }),
    ...(limit === undefined ? {} : { limit }),
  }
}

function firingParameters({ text, start, finish, deltaSec }: FiringsQuery): Parameters {
  return {
    rules: text,
    delta: deltaSec,
    ...(start === undefined ? {} : { start }),
    ...(finish === undefined ? {} : { finish }),
  }
}

/** Returns the bytes of a response. Throws RequestError. */
export async function serverBytes(
  path: string,
  parameters: Parameters,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await request(path, parameters, signal)
  if (!response.ok) throw refusal(response, await response.json().catch(() => undefined))
  return new Uint8Array(await response.arrayBuffer())
}

/** Returns all hosts of the archives on the server. */
export const serverFleet = (parameters: Parameters = {}, signal?: AbortSignal): Promise<FleetAnswer> =>
  ask('fleet', parameters, signal)

/** Returns the health of collectors by their live values. */
export const serverLiveFleet = (hosts: readonly string[], signal?: AbortSignal): Promise<FleetLiveAnswer> =>
  ask('fleet-live', { host: hosts }, signal)

/** Returns the active alerts, and alerts that ended after `from`, in seconds since the epoch. */
export const serverAlerts = (parameters: { readonly from?: number }): Promise<AlertAnswer> =>
  ask('alerts', { ...parameters })

/** Returns the server's configuration for the page. */
export const serverConfig = (): Promise<ConfigAnswer> => ask('config')

/** Returns the archives on the server, newest first. */
export async function serverArchives(): Promise<readonly ArchiveInfo[]> {
  return (await ask<{ archives: readonly ArchiveInfo[] }>('archives')).archives
}

function serverSource(
  identity: Pick<Source, 'key' | 'title' | 'host' | 'span'>,
  which: Readonly<Record<string, string>>,
  range: Readonly<Record<string, string>> | undefined,
): Source {
  return {
    ...identity,
    names: (match, offset, limit) => ask('names', { ...which, match, offset, limit }),
    children: (prefix) => ask('children', { ...which, prefix }),
    async metric(name) {
      const { metrics } = await ask<{
        metrics: readonly (MetricDetails | Extract<MetricOutcome, { code: string }>)[]
      }>('metric', { ...which, names: name })
      const found = metrics[0]
      if (found === undefined || isFailure(found))
        throw new RequestError(found?.message ?? `No ${name}`, found?.code)
      return found
    },
    async instances(name, values) {
      const query = { ...which, name, ...(values === true ? { values: 1 } : {}) }
      return (await ask<{ instances: readonly InstanceInfo[] }>('instances', query)).instances
    },
    check: (expr) => ask('check', { ...which, expr }),
    processes: async (at) =>
      at === undefined
        ? ask('processes', which)
        : range === undefined
          ? undefined
          : ask('processes', { ...range, at }),
    ...(range === undefined
      ? {}
      : {
          range: batched((query) => askRange(range, query)),
          excerpt: (start, finish) => ask('excerpt', { ...range, start, finish }),
          firings: (query, signal) => ask('rules', { ...range, ...firingParameters(query) }, signal),
          changes: (query, signal) => ask('changes', { ...range, ...changeParameters(query) }, signal),
        }),
  }
}

/** Returns a host as a source. `history` is the id of the archive that records it. */
export function hostSource(spec: string, hostname: string, history: string | null): Source {
  return serverSource(
    { key: hostKey(spec), title: hostname, host: hostname },
    { host: spec },
    history === null ? undefined : { archive: history },
  )
}

/** Returns an archive on the server as a source. */
export function archiveSource({ id, host, start, end }: ArchiveInfo): Source {
  const source = serverSource(
    { key: `archive:${id}`, title: `${host} · ${id.split('/').at(-1)}`, host, span: { start, end } },
    { archive: id },
    { archive: id },
  )
  return { ...source, range: remembered(source.range!, end) }
}
