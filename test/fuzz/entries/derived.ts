/** Files of derived metrics: parsed, bound to a data set, and evaluated over its samples. */
import { loadDerived } from '../../../src/derive/config.ts'
import { DerivedDefinitions } from '../../../src/derive/definitions.ts'
import { withDerived } from '../../../src/derive/derived-source.ts'
import { isError } from '../../../src/model/errors.ts'
import { ANONYMOUS } from '../../../src/model/source.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { datasetSource } from '../../derive/dataset.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

const SAMPLES = 3

/** Entry of src/derive. */
export const derived: FuzzEntry = textEntry({
  seeds: () => [
    'd.x = rate(g.u32.c) / 2 + delta(g.s32.i)\n',
    'd.x = sum(matchinst(/red|green/, g.u32.c)) > 5 ? mkconst(1, units="count") : rescale(g.f64.i, "Mbyte")\n',
    'd.x(oneline) = text\nd.x(helptext) = "more\ntext"\nd.x = defined(g.u32.d) && !instant(g.u64.c)\n',
    '#control global_limit=5\nd.x = scalar(max(g.s64.i)) ** -2\n',
  ],
  async run(text) {
    const definitions = new DerivedDefinitions('global')
    loadDerived(text, definitions)
    const list = definitions.list().slice(0, 8)
    if (list.length === 0) return
    const ask = { requester: ANONYMOUS }
    const source = withDerived(datasetSource(), definitions)
    const ids = list.map(({ pmid }) => pmid)
    const descs = await source.descs(ids, ask)
    for (let i = 0; i < SAMPLES; i++) {
      const { sets } = await source.fetch(ids, ask)
      for (const [k, set] of sets.entries()) {
        const desc = descs[k]!
        if (set.status > 0 && !isError(desc)) valuesOf(set, desc.type)
      }
    }
    for (const { name } of list) await source.children(name, ask)
    source.release()
  },
})
