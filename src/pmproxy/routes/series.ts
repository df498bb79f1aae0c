/** /series over the archives of this server. pmseries(1), docs/reference/rest.md */
import { matchesGlob } from '../../base/glob.ts'
import { PcpError } from '../../model/errors.ts'
import { indomStr, PM_ID_NULL, PM_INDOM_NULL, pmidStr } from '../../model/ids.ts'
import { semStr, typeStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { isSeriesId, seriesPmidStr } from '../../series/ids.ts'
import { descOfId, instancesOfId, metricNamesOfId } from '../../series/query/calculated.ts'
import { evaluate, keepExpression, valuesOf, valuesOfId } from '../../series/query/evaluate.ts'
import { parseQuery } from '../../series/query/parse.ts'
import type { SeriesResult } from '../../series/query/result.ts'
import { type WindowClock, windowOf } from '../../series/query/window.ts'
import type { NameKind, SeriesDesc, SeriesStore } from '../../series/store.ts'
import { ValueBudget } from '../../series/value-budget.ts'
import { jsonText } from '../describe.ts'
import type { Query } from '../http/query.ts'
import { json, jsonBytes, missingParameter, page, type Reply } from '../http/reply.ts'
import type { Redaction } from '../redaction.ts'
import { valuesJson } from './series-values.ts'

/** The most values that a request reads. */
const MOST_VALUES = 500_000

/** What a route needs. */
export interface SeriesRequest {
  readonly query: Query
  readonly store: SeriesStore
  readonly clock: WindowClock
  readonly redaction: Redaction
}

/** Returns the JSON text of a result, or series of which the values are the result. */
type Route = (request: SeriesRequest) => Promise<string | readonly SeriesResult[]>

/** A route, and the parameters of which one is required. */
interface SeriesRoute {
  readonly needs: readonly string[]
  readonly answer: Route
}

const ROUTES: Readonly<Record<string, SeriesRoute>> = {
  query: { needs: ['expr'], answer: queryAnswer },
  values: { needs: ['series'], answer: valuesAnswer },
  descs: { needs: ['series'], answer: descsAnswer },
  instances: {
    needs: [],
    answer: ({ query, store }) =>
      query.get('series') === undefined
        ? namesOf(store, 'instance', query)
        : listed(idsOf(query), async (series) =>
            (await instancesOfId(store, series, expressionIn(query, series))).map(
              ({ id, inst, name, source }) => objectOf({ series, source, instance: id, id: inst, name }),
            ),
          ),
  },
  labels: { needs: [], answer: labelsAnswer },
  metrics: {
    needs: [],
    answer: ({ query, store }) =>
      query.get('series') === undefined
        ? namesOf(store, 'metric', query)
        : listed(idsOf(query), async (series) =>
            (await metricNamesOfId(store, series, expressionIn(query, series))).map((name) =>
              objectOf({ series, name }),
            ),
          ),
  },
  sources: {
    needs: ['source', 'match', 'client'],
    answer: ({ query, store }) =>
      query.get('source') === undefined
        ? namesOf(store, 'context', query)
        : listed(query.list('source') ?? [], async (source) =>
            (await store.sourceNames(source)).map((name) => objectOf({ source, name })),
          ),
  },
  load: {
    needs: ['expr'],
    answer: async () => {
      throw new PcpError(
        'PM_ERR_NYI',
        'archives need not be loaded: those of this server are read as they are',
      )
    },
  },
}

/** Parameters that are empty are missing. */
const NEVER_EMPTY = ['series', 'expr', 'name', 'names', 'source'] as const

/**
 * Answers a request for series; `expressions` are those to which identifiers without a series may refer. Invalid requests are replies with
 * status 400.
 */
export async function answerSeries(name: string, request: SeriesRequest): Promise<Reply> {
  const { query } = request
  const client = query.get('client')
  const start = client === undefined ? '' : `"client":${jsonText(client)},`
  if (name === 'ping') return json(`{${start}"success":true}`)
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined
  if (route === undefined) return page(400, 'unknown', 'no handler for URL')
  const lacks = route.needs.length > 0 && route.needs.every((each) => query.get(each) === undefined)
  if (lacks && name === 'values') return json(`{${start}"success":false}`, 400)
  if (lacks || NEVER_EMPTY.some((each) => query.get(each) === '')) return missingParameter('series')
  try {
    const result = await route.answer(request)
    const [before, after] = client === undefined ? ['', ''] : [`{${start}"result":`, '}']
    return typeof result === 'string'
      ? json(`${before}${result}${after}`)
      : jsonBytes(valuesJson(before, result, `${after}\r\n`))
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    return json(
      `{${start}"message":${jsonText(request.redaction.error(error).message)},"success":false}`,
      400,
    )
  }
}

async function queryAnswer({
  query,
  store,
  clock,
}: SeriesRequest): Promise<string | readonly SeriesResult[]> {
  const parsed = parseQuery(query.get('expr')!)
  const answer = await evaluate(store, parsed, clock, new ValueBudget(MOST_VALUES))
  if (answer.kind === 'values') return answer.series
  await keepExpression(store, parsed, new ValueBudget(MOST_VALUES))
  return `[${answer.ids.map((id) => `"${id}"`).join(',')}]`
}

async function valuesAnswer({ query, store, clock }: SeriesRequest): Promise<readonly SeriesResult[]> {
  const window = windowOf(
    texts({
      samples: query.get('samples', 'count'),
      interval: query.get('interval', 'delta'),
      start: query.get('start', 'begin'),
      finish: query.get('finish', 'end'),
      range: query.get('range'),
      zone: query.get('zone'),
    }),
    clock,
    true,
  )
  const budget = new ValueBudget(MOST_VALUES)
  const results: SeriesResult[] = []
  for (const id of idsOf(query)) {
    const expression = expressionIn(query, id)
    if (expression === undefined) results.push(...(await valuesOfId(store, id, window, budget)))
    else results.push(...(await valuesOf(store, parseQuery(expression).body, () => window, budget)))
  }
  return results
}

/** Returns the parameter that carries the expression of an identifier to the thread that calculates it. */
export function expressionParameter(id: string): string {
  return `expression.${id}`
}

function expressionIn(query: Query, id: string): string | undefined {
  return query.get(expressionParameter(id))
}

async function labelsAnswer({ query, store }: SeriesRequest): Promise<string> {
  const names = query.list('name', 'names')
  if (names !== undefined) {
    const members: string[] = []
    for (const name of names) {
      const values = await store.labelValues(name)
      if (values.length > 0) members.push(`${jsonText(name)}:[${values.join(',')}]`)
    }
    return `{${members.join(',')}}`
  }
  if (query.get('series') === undefined) return namesOf(store, 'label', query)
  return listed(idsOf(query), async (series) => {
    const labels = await store.labels(series)
    if (labels === undefined) return []
    const members = [...labels].map(([name, value]) => `${jsonText(name)}:${value}`)
    return [`{"series":"${series}","labels":{${members.join(',')}}}`]
  })
}

function descsAnswer({ query, store }: SeriesRequest): Promise<string> {
  const budget = new ValueBudget(MOST_VALUES)
  return listed(idsOf(query), async (id) =>
    descOf(id, await descOfId(store, id, budget, expressionIn(query, id))),
  )
}

function descOf(series: string, desc: SeriesDesc | undefined): readonly string[] {
  const unknown = 'unknown'
  if (desc === undefined) {
    const rest = { semantics: unknown, type: unknown, units: unknown }
    return [objectOf({ series, source: unknown, pmid: pmidStr(PM_ID_NULL), indom: unknown, ...rest })]
  }
  return [
    objectOf({
      series,
      source: desc.source,
      pmid: seriesPmidStr(desc.pmid),
      indom: desc.indom === PM_INDOM_NULL ? 'none' : indomStr(desc.indom),
      semantics: semStr(desc.sem),
      type: typeStr(desc.type).toLowerCase(),
      units: unitsStr(desc.units) || 'none',
    }),
  ]
}

/** Returns the identifiers in a request. EINVAL for a malformed one. */
function idsOf(query: Query): readonly string[] {
  const ids = query.list('series') ?? []
  const bad = ids.find((id) => !isSeriesId(id))
  if (bad !== undefined) throw new PcpError('EINVAL', `Invalid SID ${bad} near offset 0`)
  return ids
}

async function namesOf(store: SeriesStore, kind: NameKind, query: Query): Promise<string> {
  const match = query.get('match')
  const names = await store.names(kind)
  // Grafana sends an empty pattern for all names.
  const wanted =
    match === undefined || match === '' ? names : names.filter((name) => matchesGlob(match, name))
  return `[${wanted.map((name) => jsonText(name)).join(',')}]`
}

async function listed(
  ids: readonly string[],
  describe: (id: string) => Promise<readonly string[]>,
): Promise<string> {
  const all: string[] = []
  for (const id of ids) all.push(...(await describe(id)))
  return `[${all.join(',')}]`
}

function objectOf(members: Readonly<Record<string, string | number>>): string {
  const texts = Object.entries(members).map(
    ([name, value]) => `"${name}":${typeof value === 'number' ? value : jsonText(value)}`,
  )
  return `{${texts.join(',')}}`
}

/** Drops undefined members. */
function texts(all: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined),
  )
}
