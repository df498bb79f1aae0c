/** /ui/api: routes of the chart page beyond PCP's REST API. docs/reference/pmproxy.md */
import { hostname } from 'node:os'
import { VERSION } from '../../base/version.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { indomStr, PM_INDOM_NULL } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import {
  contextSets,
  describeNames,
  jsonText,
  labelSets,
  labelsJson,
  orUndefined,
  semName,
  typeName,
  unitsName,
} from '../describe.ts'
import { ANY_HOST } from '../host-rules.ts'
import { pageUserOf, requireUser } from '../http/login.ts'
import {
  BUSY_HEADERS,
  failure,
  json,
  page,
  type Reply,
  unauthorized,
  withoutChallenge,
} from '../http/reply.ts'
import { formQuery, type WebRequest } from '../http/request.ts'
import { instanceTexts } from '../instance-texts.ts'
import { metricJson } from '../live/topic.ts'
import type { Services } from '../services.ts'
import { isNamed, userKey, type WebUser } from '../web-user.ts'
import { alerts } from './alerts.ts'
import { changes } from './changes.ts'
import { answerExcerpt } from './excerpt.ts'
import { answerLiveFleet, fleetHealth, fleetRange } from './fleet.ts'
import { requestedIndom } from './indom.ts'
import { MOST_NAMES, namesOf, type PageCall, wholeNumber } from './page-call.ts'
import { processes } from './processes.ts'
import { range } from './range.ts'
import { rules } from './rules.ts'

const MOST_FOUND = 5000

/** Routes that read one archive or one host. */
const ROUTES: Readonly<Record<string, (call: PageCall) => Promise<Reply>>> = {
  names,
  children,
  metric,
  instances,
  check,
  range,
  changes,
  processes,
  rules,
}

/** Routes about this server and the hosts of the page. */
const SERVER_ROUTES: Readonly<
  Record<string, (request: WebRequest, services: Services, user: WebUser) => Reply | Promise<Reply>>
> = {
  config: (_request, services) => config(services),
  alerts,
  'fleet-live': ({ query }, { liveFleet }, user) => answerLiveFleet(query, liveFleet, user),
}

type ArchiveRequest = Pick<WebRequest, 'path' | 'query' | 'signal'>
type ArchiveServices = Pick<Services, 'archives' | 'contexts' | 'fleet' | 'search'>

/** Routes that read files of archives, or all archives. */
const FILE_ROUTES: Readonly<
  Record<string, (request: ArchiveRequest, services: ArchiveServices, user: WebUser) => Promise<Reply>>
> = {
  archives: async (_request, services) => json(JSON.stringify(await services.archives.list())),
  excerpt: (request, services, user) => answerExcerpt(request, services.archives, user),
  fleet: (request, { fleet }, user) => fleetHealth({ request, fleet, user }),
  'fleet-range': (request, { fleet }, user) => fleetRange({ request, fleet, user }),
}

/** Names of all routes but `live`, the WebSocket. */
export const PAGE_ROUTES: readonly string[] = [ROUTES, SERVER_ROUTES, FILE_ROUTES].flatMap(Object.keys)

/** Answers a request below /ui/api/; undefined for other paths. */
export async function answerPageApi(given: WebRequest, services: Services): Promise<Reply | undefined> {
  if (!given.path.startsWith('/ui/api/')) return undefined
  const name = given.path.slice('/ui/api/'.length)
  const user = pageUserOf(given, services)
  if (user === null || (!isNamed(user) && services.config.requiresUser))
    return unauthorized(given.headers.authorization)
  try {
    const request = { ...given, query: await formQuery(given) }
    request.query.refuseControls()
    const readsArchives = request.query.get('archive') !== undefined || Object.hasOwn(FILE_ROUTES, name)
    await requireUser(services, user, readsArchives)
    if (!PAGE_ROUTES.includes(name)) return page(404, 'ui', 'no handler for URL')
    const ofServer = SERVER_ROUTES[name]
    if (ofServer !== undefined) return await ofServer(request, services, user)
    const ofHost = request.query.get('archive') === undefined ? ROUTES[name] : undefined
    if (ofHost !== undefined) return await withHost(request, services, user, ofHost)
    const { archiveGate, archiveThreads } = services
    return await archiveGate.run(
      request.signal,
      () => archiveThreads?.answer(request, user) ?? answerOfArchives(request, services, user),
    )
  } catch (error) {
    const reply = failure(services.redaction.error(error))
    if (PcpError.from(error).code === 'EBUSY') return { ...reply, status: 503, headers: BUSY_HEADERS }
    // The owner's key is right: another host wants a login, which a prompting browser would send to this server.
    return user.kind === 'owner' && reply.status === 401 ? withoutChallenge(reply, 403) : reply
  }
}

/** Answers a request that reads or lists archives, in a thread if there are threads. */
export async function answerOfArchives(
  request: ArchiveRequest,
  services: ArchiveServices,
  user: WebUser,
): Promise<Reply> {
  const name = request.path.slice('/ui/api/'.length)
  const ofFiles = FILE_ROUTES[name]
  if (ofFiles !== undefined) return ofFiles(request, services, user)
  const archive = request.query.get('archive') ?? ''
  const context = await services.contexts.open({ archive, user })
  try {
    return await ROUTES[name]!({ request, services, context, key: `archive ${isNamed(user)} ${archive}` })
  } finally {
    await context.close()
  }
}

async function withHost(
  request: WebRequest,
  services: Services,
  user: WebUser,
  act: (call: PageCall) => Promise<Reply>,
): Promise<Reply> {
  const host = request.query.get('host') ?? services.config.offeredHosts[0] ?? 'local:'
  const context = await services.contexts.open({ host, user })
  try {
    return await act({ request, services, context, key: `host ${userKey(user)} ${host}` })
  } finally {
    await context.close()
  }
}

function config({ config, archives, collectorPorts }: Services): Reply {
  const { offeredHosts, hosts, historyDir } = config
  const history = historyDir === undefined ? undefined : archives.idOf(historyDir)
  return json(
    JSON.stringify({
      version: VERSION,
      hostname: hostname(),
      hosts: offeredHosts,
      ports: collectorPorts,
      anyHost: hosts?.includes(ANY_HOST) === true,
      archives: archives.isOpen,
      history: history ?? null,
      alerts: config.alertLog !== undefined,
      limits: { points: 20_000, names: MOST_NAMES },
    }),
  )
}

async function names({ request, services, context, key }: PageCall): Promise<Reply> {
  const { query } = request
  const offset = wholeNumber(query.get('offset'), 'offset', 0, Number.MAX_SAFE_INTEGER)
  const limit = wholeNumber(query.get('limit'), 'limit', 100, MOST_FOUND)
  const found = await services.search.find(key, context, query.get('match') ?? '', { signal: request.signal })
  const rows = found.slice(offset, offset + limit).map(metricJson)
  return json(`{"total":${found.length},"metrics":[${rows.join(',')}]}`)
}

async function children({ request, context }: PageCall): Promise<Reply> {
  const name = request.query.get('prefix') ?? ''
  const found = await context.children(name, { signal: request.signal })
  const list = (isLeaf: boolean): string[] =>
    found.filter((child) => child.isLeaf === isLeaf).map((child) => child.name)
  return json(JSON.stringify({ name, leaf: list(true), nonleaf: list(false) }))
}

async function metric({ request, context }: PageCall): Promise<Reply> {
  const options = { signal: request.signal }
  const asked = namesOf(request)
  const found = await describeNames(context, asked, options)
  const rows = await Promise.all(
    found.map(async (each, i) => {
      const name = asked[i]!
      if (isError(each)) return metricJson({ name, error: each })
      const { desc } = each
      const [help, text, sets] = await Promise.all([
        orUndefined(context.text(desc.pmid, { ...options, level: 'oneline' })),
        orUndefined(context.text(desc.pmid, options)),
        labelSets(context, desc.pmid, options),
      ])
      const more = `,"text":${jsonText(text ?? '')},"labels":${labelsJson(sets)}}`
      return metricJson({ name, desc, help: help ?? '' }).slice(0, -1) + more
    }),
  )
  return json(`{"metrics":[${rows.join(',')}]}`)
}

async function instances({ request, context }: PageCall): Promise<Reply> {
  const options = { signal: request.signal }
  const domain = await requestedIndom(context, request.query, options)
  if (domain === undefined || domain === PM_INDOM_NULL)
    throw new PcpError('PM_ERR_INDOM', 'indom or name is required: indom=60.1 or name=METRIC')
  const found =
    context.archive === undefined
      ? await context.instances(domain, options)
      : context.archive.instances(domain)
  const [help, sets, own] = await Promise.all([
    orUndefined(context.indomText(domain, { ...options, level: 'oneline' })),
    contextSets(context, options),
    orUndefined(context.instancesLabels(domain, options)),
  ])
  const labels = new Map<number, LabelSet>((own ?? []).map((set) => [set.inst, set]))
  const name = request.query.get('values') === '1' ? request.query.get('name') : undefined
  const texts = name === undefined ? undefined : await instanceTexts(context, name, options)
  const rows = found.ids.map((id, i) => {
    const text = texts?.get(id)
    const value = text === undefined ? '' : `,"value":${jsonText(text)}`
    const all = labels.has(id) ? [...sets, labels.get(id)!] : sets
    return `{"id":${id},"name":${jsonText(found.names[i]!)},"labels":${labelsJson(all)}${value}}`
  })
  return json(
    `{"indom":"${indomStr(domain)}","help":${jsonText(help ?? '')},"instances":[${rows.join(',')}]}`,
  )
}

/** Checks an expression. The column of a mistake is taken from the mark in the message. */
async function check({ request, context }: PageCall): Promise<Reply> {
  const expression = request.query.get('expr') ?? ''
  try {
    const id = await context.addDerived('check.expression', expression, { signal: request.signal })
    const { type, sem, units, indom } = await context.desc(id, { signal: request.signal })
    const domain = indom === PM_INDOM_NULL ? null : indomStr(indom)
    const what = { type: typeName(type), sem: semName(sem), units: unitsName(units), indom: domain }
    return json(JSON.stringify({ ok: true, ...what }))
  } catch (error) {
    const { code, message, reason } = PcpError.from(error)
    if (code !== 'PM_ERR_BADDERIVE') throw error
    const lines = message.trimEnd().split('\n')
    const mark = lines.findIndex((line) => /^ *\^$/.test(line))
    const at = mark < 0 ? 0 : lines[mark]!.indexOf('^')
    return json(JSON.stringify({ ok: false, message: lines.at(-1), at, reason }))
  }
}
