/** dbpmda's requests to agents, and the output of their replies. dbpmda(1) */
import { debug } from '../../model/debug.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import {
  clusterOf,
  domainOf,
  type Indom,
  indomStr,
  PM_INDOM_NULL,
  type Pmid,
  pmidStr,
} from '../../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../../model/labels.ts'
import { printDesc } from '../../model/print.ts'
import { dumpResult } from './dump.ts'
import type { Command } from './parse.ts'
import { descOf, type RequestContext, replyOf } from './request-context.ts'
import { store } from './store.ts'

/** Commands that are sent to the agent. */
export type AgentRequest = Extract<
  Command,
  {
    type:
      | 'desc'
      | 'fetch'
      | 'store'
      | 'instance'
      | 'text'
      | 'label'
      | 'children'
      | 'traverse'
      | 'pmid'
      | 'name'
  }
>

type Asked<T extends AgentRequest['type']> = Extract<AgentRequest, { type: T }>

/** Handlers by type of request. */
export const REQUESTS: {
  readonly [T in AgentRequest['type']]: (command: Asked<T>, context: RequestContext) => Promise<void>
} = {
  desc: async ({ id }, context) => {
    context.say(`PMID: ${pmidStr(id)}\n`)
    const desc = await descOf(id, context)
    if (desc !== undefined) context.say(printDesc(desc))
  },
  fetch: fetchAndDump,
  store,
  instance: async ({ indom, query }, context) => {
    context.say(`pmInDom: ${indomStr(indom)}\n`)
    const { source, ask } = context
    const found = await replyOf(source.instances(indom, query, ask), 'instance', context)
    if (found === undefined) return
    for (let i = 0; i < found.ids.length; i++) {
      const inst = query !== undefined && 'id' in query ? '' : ` inst: ${found.ids[i]}`
      const name = query !== undefined && 'name' in query ? '' : ` name: "${found.names[i]}"`
      context.say(`[${String(i).padStart(3)}]${inst}${name}\n`)
    }
  },
  text: async ({ kind, id }, context) => {
    context.say(kind === 'metric' ? `PMID: ${pmidStr(id)}\n` : `pmInDom: ${indomStr(id)}\n`)
    const { source, ask } = context
    for (const level of ['oneline', 'help'] as const) {
      const text = await replyOf(source.text({ kind, id, level }, ask), 'text', context)
      if (text !== undefined)
        context.say(
          level === 'oneline'
            ? `[${text || '<no one line help text specified>'}]\n`
            : `${text || '<no help text specified>'}\n`,
        )
    }
  },
  label: showLabels,
  children: async ({ name }, context) => {
    context.say(`Metric: ${name}\n`)
    const children = await replyOf(context.source.children(name, context.ask), 'children', context)
    for (const child of children ?? [])
      context.say(`   ${child.isLeaf ? '    leaf' : 'non-leaf'} ${child.name}\n`)
  },
  traverse: async ({ name }, context) => {
    context.say(`Metric: ${name}\n`)
    const names = await replyOf(context.source.traverse(name, context.ask), 'children', context)
    // PCP marks leaves if the agent runs in its own process, although all names are leaves.
    for (const each of names ?? []) context.say(`   ${context.isLocal ? '    leaf ' : ''}${each}\n`)
  },
  pmid: async ({ name }, context) => {
    context.say(`Metric: ${name}\n`)
    const ids = await replyOf(context.source.lookupNames([name], context.ask), 'pmid', context)
    const id = ids?.[0]
    if (id instanceof PcpError) context.failed(id, 'pmid')
    else if (id !== undefined) context.say(`   ${pmidStr(id)}\n`)
  },
  name: async ({ id }, context) => {
    context.say(`PMID: ${pmidStr(id)}\n`)
    const names = await replyOf(context.source.lookupId(id, context.ask), 'name', context)
    for (const each of names ?? []) context.say(`   ${each}\n`)
  },
}

async function fetchAndDump({ ids }: Asked<'fetch'>, context: RequestContext): Promise<void> {
  const { source, ask, getdesc, getiname, say } = context
  say(`PMID(s): ${ids.map(pmidStr).join(' ')}\n`)
  const descs = new Map<Pmid, MetricDesc>()
  for (const id of getdesc ? new Set(ids) : []) {
    const desc = await descOf(id, context)
    if (desc === undefined) return
    descs.set(id, desc)
    if (debug.pdu) say(printDesc(desc))
  }
  context.sendsProfile()
  const result = await replyOf(source.fetch(ids, ask), 'fetch', context)
  if (result === undefined) return
  const { namesOf, zone, print, isLocal } = context
  const instances = getiname ? await instanceNames(descs.values(), context) : undefined
  say(
    dumpResult(result, {
      namesOf,
      zone,
      print,
      isLocal,
      ...(getdesc ? { descs } : {}),
      ...(instances === undefined ? {} : { instances }),
    }),
  )
}

/** Returns the instance names of these metrics by domain. */
async function instanceNames(
  descs: Iterable<MetricDesc>,
  context: RequestContext,
): Promise<ReadonlyMap<Indom, ReadonlyMap<number, string>>> {
  const names = new Map<Indom, ReadonlyMap<number, string>>()
  for (const { indom } of descs) {
    if (indom === PM_INDOM_NULL || names.has(indom)) continue
    const found = await replyOf(context.source.instances(indom, undefined, context.ask), 'instance', context)
    names.set(indom, new Map(found?.ids.map((id, i) => [id, found.names[i]!])))
  }
  return names
}

async function showLabels({ level, id }: Asked<'label'>, context: RequestContext): Promise<void> {
  const { source, ask, domain, isLocal, say } = context
  say(titleOf(level, id))
  const query = { level, id: id ?? domain }
  // The profile determines which instances have labels.
  context.sendsProfile()
  const sets = await replyOf(source.labels(query, ask), 'label', context)
  if (sets === undefined) return
  if (sets.length === 0)
    say(isLocal ? 'Info: DSO label() returns 0\n' : 'Info: __pmDecodeLabel() returns 0 label sets\n')
  sets.forEach((set, i) => {
    const title =
      level === LABEL_INSTANCES ? `[${String(i).padStart(3)}] Labels inst: ${set.inst}` : 'Labels:'
    say(`${title}\n${labelLines(set)}`)
  })
}

function titleOf(level: number, id: number | undefined): string {
  switch (level) {
    case LABEL_CONTEXT:
    case LABEL_DOMAIN:
      return ''
    case LABEL_CLUSTER:
      return `Cluster: ${domainOf(id!)}.${clusterOf(id!)}\n`
    case LABEL_ITEM:
      return `PMID: ${pmidStr(id!)}\n`
    case LABEL_INSTANCES:
      return `Instances of pmInDom: ${indomStr(id!)}\n`
    default:
      return `pmInDom: ${indomStr(id!)}\n`
  }
}

function labelLines({ status, labels }: LabelSet): string {
  if (status < 0) return `    Error: ${PcpError.fromStatus(status).text}\n`
  return labels.map(({ name, value }) => `    ${name}=${value}\n`).join('')
}
