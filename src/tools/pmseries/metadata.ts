/** Reports of pmseries about identifiers: descriptors, instances, labels, names. */
import { indomStr, PM_ID_NULL, PM_INDOM_NULL, pmidStr } from '../../model/ids.ts'
import { printDesc } from '../../model/print.ts'
import { seriesPmidStr } from '../../series/ids.ts'
import { descOfId, instancesOfId, metricNamesOfId } from '../../series/query/calculated.ts'
import type { SeriesStore } from '../../series/store.ts'
import { ValueBudget } from '../../series/value-budget.ts'

/** What to show about each identifier. */
export interface MetadataWanted {
  readonly desc: boolean
  readonly indom: boolean
  readonly instances: boolean
  readonly labels: boolean
  readonly labelNames: boolean
  readonly metrics: boolean
  readonly pmid: boolean
  readonly source: boolean
}

const NO_DESC = `    PMID: ${pmidStr(PM_ID_NULL)}
    Data Type: ???  InDom: unknown 0xffffffff
    Semantics: unknown  Units: unknown
`

/** Returns the wanted facts about a series or instance, without heading. */
export async function metadataText(store: SeriesStore, id: string, wanted: MetadataWanted): Promise<string> {
  const desc = await descOfId(store, id, new ValueBudget())
  const instances = await instancesOfId(store, id)
  const isAll = wanted.desc && wanted.source
  let text = ''
  const plainPmid = desc && seriesPmidStr(desc.pmid)
  const ownPmid = desc && wanted.pmid ? notations(plainPmid!, desc.pmid) : plainPmid
  const ownIndom = desc && notations(indomStr(desc.indom), desc.indom)
  if (wanted.desc && desc === undefined) text += NO_DESC
  else if (wanted.desc) {
    const printed = printDesc(desc!)
    text += `    PMID: ${ownPmid}\n`
    text += wanted.indom ? printed.replace(/InDom: .*/, `InDom: ${ownIndom}`) : printed
  } else {
    if (wanted.pmid && desc !== undefined) text += `    PMID: ${ownPmid}\n`
    const indent = wanted.pmid ? '  ' : '     '
    if (wanted.indom && desc !== undefined) text += `${indent}InDom: ${ownIndom}\n`
  }
  if (wanted.source) text += `${isAll ? '    ' : '       '}Source: ${desc?.source ?? 'unknown'}\n`
  if (wanted.metrics) for (const name of await metricNamesOfId(store, id)) text += `    Metric: ${name}\n`
  const about = instances.map(({ inst, name }) => `    inst [${inst} or "${name}"]`)
  if (wanted.instances)
    for (const [i, each] of about.entries()) text += `${each} series ${instances[i]!.id}\n`
  if (wanted.labels) {
    const own = desc === undefined || desc.indom === PM_INDOM_NULL ? await store.labels(id) : undefined
    if (own !== undefined) text += `    labels ${jsonOf(own)}\n`
    for (const [i, each] of about.entries()) {
      const labels = await store.labels(instances[i]!.id)
      if (labels !== undefined) text += `${each} labels ${jsonOf(labels)}\n`
    }
  }
  return text
}

/** Returns the names of the labels of a series and its instances, each with its heading. */
export async function labelNamesText(store: SeriesStore, id: string): Promise<string> {
  const ids = [id, ...(await store.instances(id)).map((each) => each.id)]
  let text = ''
  for (const each of ids) {
    const labels = await store.labels(each)
    text += `\n${each}${labels === undefined ? '' : `    Labels: ${[...labels.keys()].join(', ')}`}\n`
  }
  return text
}

function notations(text: string, id: number): string {
  return `${text} = ${id} = 0x${id.toString(16)}`
}

function jsonOf(labels: ReadonlyMap<string, string>): string {
  return `{${[...labels].map(([name, value]) => `"${name}":${value}`).join(',')}}`
}
