/** Sources behind pmproxy. docs/pmproxy.md */

import type { ChartRange } from '../../archive/chart-answer.ts'
import { decodeChartRange } from '../../archive/chart-bytes.ts'
import { hostKey } from '../view/view.ts'
import {
  type ArchiveInfo,
  type ConfigAnswer,
  type InstanceInfo,
  isFailure,
  type MetricDetails,
  type MetricOutcome,
  type RangeQuery,
  RequestError,
} from './answers.ts'
import { batched } from './batch.ts'
import { forgetKey, pageKey } from './key.ts'
import type { Source } from './source.ts'

const API = '/ui/api'
const PATIENCE_MS = 30_000

type Parameters = Readonly<Record<string, string | number | readonly string[]>>

async function request(path: string, parameters: Parameters): Promise<Response> {
  // Not URLSearchParams: to PCP's web API a plus is a plus.
  const text = Object.entries(parameters)
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${encodeURIComponent(one)}`))
    .join('&')
  try {
    const key = pageKey()
    const response = await fetch(`${API}/${path}${text === '' ? '' : `?${text}`}`, {
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } }),
    })
    if (response.status !== 401 || key === undefined) return response
    forgetKey()
    return await request(path, parameters)
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError'
    throw new RequestError(
      isLate ? `pmproxy did not answer within ${PATIENCE_MS / 1000} s` : 'pmproxy cannot be reached',
    )
  }
}

async function ask<T>(path: string, parameters: Parameters = {}): Promise<T> {
  const response = await request(path, parameters)
  const answer: unknown = await response.json().catch(() => undefined)
  if (!response.ok || answer === undefined) throw refusal(response, answer)
  return answer as T
}

/** What the server answers in place of what it was asked. */
function refusal({ status }: Response, answer: unknown): RequestError {
  const { message, code } = (answer ?? {}) as { message?: string; code?: string }
  return new RequestError(message ?? `pmproxy answered ${status}`, code)
}

async function askRange(which: Parameters, query: RangeQuery): Promise<ChartRange> {
  const { names, derive, start, finish, points, aligned } = query
  const response = await request('range', {
    ...which,
    names: names.join(','),
    derive: Object.entries(derive).map(([name, expr]) => `${name}=${expr}`),
    start,
    finish,
    points,
    ...(aligned === true ? { aligned: 1 } : {}),
    format: 'columns',
  })
  if (!response.ok) throw refusal(response, await response.json().catch(() => undefined))
  return decodeChartRange(new Uint8Array(await response.arrayBuffer()))
}

/** What the server lets the page do. */
export const serverConfig = (): Promise<ConfigAnswer> => ask('config')

/** The archives on the server, newest first. */
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
    async instances(name) {
      return (await ask<{ instances: readonly InstanceInfo[] }>('instances', { ...which, name })).instances
    },
    check: (expr) => ask('check', { ...which, expr }),
    ...(range === undefined ? {} : { range: batched((query) => askRange(range, query)) }),
  }
}

/** A host behind the server. `history`: id of the archives in which it is recorded. */
export function hostSource(spec: string, hostname: string, history: string | null): Source {
  return serverSource(
    { key: hostKey(spec), title: hostname, host: hostname },
    { host: spec },
    history === null ? undefined : { archive: history },
  )
}

/** An archive on the server. */
export function archiveSource({ id, host, start, end }: ArchiveInfo): Source {
  return serverSource(
    { key: `archive:${id}`, title: `${host} · ${id.split('/').at(-1)}`, host, span: { start, end } },
    { archive: id },
    { archive: id },
  )
}
