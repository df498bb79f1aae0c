/** Files of memory-mapped values: the metrics, values and texts that an agent makes from them. */

import { mappedTables } from '../../../src/agents/lib/mapped-tables.ts'
import { encodeMmv, type IndomContent, type MetricContent } from '../../../src/mmv/content.ts'
import type { MmvFile } from '../../../src/mmv/files.ts'
import { MMV_FLAG_NOPREFIX, MMV_FLAG_SENTINEL, MMV_TYPE_ELAPSED, parseMmv } from '../../../src/mmv/layout.ts'
import { isError } from '../../../src/model/errors.ts'
import { PM_INDOM_NULL } from '../../../src/model/ids.ts'
import { LABEL_CLUSTER, LABEL_INDOM, LABEL_INSTANCES, LABEL_ITEM } from '../../../src/model/labels.ts'
import { ANONYMOUS } from '../../../src/model/source.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { defineAgent } from '../../../src/pmda/define-agent.ts'
import { openAgent } from '../../../src/pmda/open-agent.ts'
import type { FuzzEntry } from '../engine/entry.ts'

const texts = { oneline: 'one line', help: 'the whole text' }
const DISKS: IndomContent = { serial: 5, ids: [0, 1], names: ['sda', 'sdb'], texts }

/** Entry of src/mmv and of what src/pmda makes of it. */
export const mmv: FuzzEntry = {
  seeds: () => ([1, 2, 3] as const).map(sample),
  maxLength: 8192,
  async run(input) {
    const bytes = input.slice()
    const file = { name: 'app', layout: parseMmv(bytes), view: new DataView(bytes.buffer) }
    const options = { controls: {}, nowUs: () => 1e15, log: () => undefined, root: 'mmv' }
    const tables = mappedTables([file as unknown as MmvFile], options)
    const agent = openAgent(defineAgent({ name: 'mmv', domain: 70, ...tables }))
    const ask = { requester: ANONYMOUS }
    const names = (await agent.traverse('', ask)).slice(0, 16)
    const ids = (await agent.lookupNames(names, ask)).flatMap((id) => (isError(id) ? [] : [id]))
    const descs = await agent.descs(ids, ask)
    const { sets } = await agent.fetch(ids, ask)
    for (const [i, set] of sets.entries()) {
      const desc = descs[i]!
      if (isError(desc)) continue
      if (set.status > 0) valuesOf(set, desc.type)
      if (desc.indom !== PM_INDOM_NULL) await agent.instances(desc.indom, undefined, ask)
    }
    await agent.close()
  },
}

/** A file with metrics of all types, instances, texts and labels. */
function sample(version: 1 | 2 | 3): Uint8Array {
  const types = { 1: [0, 1, 6], 2: [2, 3, 4], 3: [5, 6, MMV_TYPE_ELAPSED] }[version]
  const metrics = types.map(
    (type, i): MetricContent => ({
      name: `metric.m${i}`,
      item: i,
      type,
      sem: 1,
      units: 0x10_0000,
      indom: i === 1 ? DISKS : undefined,
      texts,
    }),
  )
  const label = (flags: number, id: number, name: string) => ({ flags, id, inst: 0, json: `{"${name}":"x"}` })
  const labels = [
    label(LABEL_CLUSTER, 17, 'cluster'),
    label(LABEL_INDOM, 5, 'indom'),
    label(LABEL_ITEM, 1, 'item'),
    label(LABEL_INSTANCES, 5, 'instance'),
  ]
  const { bytes } = encodeMmv({
    version,
    flags: version === 2 ? MMV_FLAG_SENTINEL : version === 3 ? MMV_FLAG_NOPREFIX : 0,
    pid: 1,
    cluster: 17,
    generation: 7n,
    indoms: [DISKS],
    metrics,
    labels: version === 3 ? labels : [],
  })
  return bytes
}
