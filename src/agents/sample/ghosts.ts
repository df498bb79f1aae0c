/** Names known only to the agent: secret ones, and those of ghosts, which come and go. */
import { pmid } from '../../model/ids.ts'
import type { IndomSpec } from '../../pmda/define.ts'
import { descOf, oncePerFetch, type Rows, type SampleContext } from './context.ts'

/** Subtrees whose names a collector requests from the agent. */
export const DYNAMIC_ROOTS: readonly string[] = ['secret', 'ghosts']

const SECRETS = [
  'foo.one',
  'foo.two',
  'foo.bar.three',
  'foo.bar.four',
  'foo.bar.grunt.five',
  'foo.bar.grunt.snort.six',
  'foo.bar.grunt.snort.huff.puff.seven',
] as const

/** Rows whose names are in no name space file. */
export function secretRows(): Rows {
  const rows: { [name: string]: Rows[string] } = {
    // pmcd.agent.status: names may refer to metrics of another agent.
    'secret.foo.bar.max.redirect': { alias: pmid(2, 4, 1) },
    'secret.bar': {
      item: 1000,
      ...descOf('string'),
      help: 'A text that is always "foo"',
      value: () => 'foo',
    },
  }
  for (const [i, name] of SECRETS.entries())
    rows[`secret.${name}`] = {
      item: 1001 + i,
      ...descOf('32', 'instant', 'count'),
      help: `The constant ${i + 1}, under a name that only the agent knows`,
      value: () => i + 1,
    }
  return rows
}

const GHOSTS: readonly (readonly [name: string, origin: string])[] = [
  ['Obambo', 'Africa'],
  ['Banjhakri', 'Nepal'],
  ['Mogwai', 'China'],
  ['Pocong', 'Indonesia'],
  ['Hitodama', 'Japan'],
  ['Krahang', 'Thailand'],
  ['Zmeu', 'Roumania'],
  ['Duppy', 'Jamaica'],
]
/** Fetches after which the states repeat. */
const PERIOD = 24

/** Ghosts: one metric sets their number, and whether the other metrics exist. */
export class Ghosts {
  readonly #context: SampleContext
  readonly #appear: () => void
  readonly #ghostRows: Rows
  #visible = -1
  #phase = PERIOD - 1
  /** Instances 1 to the number of visible ghosts. */
  readonly indom: IndomSpec = {
    serial: 11,
    instances: () => {
      const ids = GHOSTS.map((_, i) => i + 1).filter((id) => id <= this.#visible)
      return { ids, names: ids.map((id) => GHOSTS[id - 1]![0]) }
    },
    help: 'Ghosts that can be seen at the moment',
  }

  /** `appear` is called when metrics were added or removed. */
  constructor(context: SampleContext, appear: () => void) {
    this.#context = context
    this.#appear = appear
    this.#ghostRows = this.#makeGhostRows()
  }

  /** Returns the current rows. */
  rows(): Rows {
    return this.#visible < 0 ? this.#visibleRow : { ...this.#visibleRow, ...this.#ghostRows }
  }

  readonly #visibleRow: Rows = {
    'ghosts.visible': {
      item: 1008,
      ...descOf('32', 'instant', 'count'),
      help: 'Number of ghosts; if negative their metrics do not exist either',
      text: 'Initially -1. Up to 8 can be stored. The other metrics of ghosts exist while it is not negative.',
      value: () => this.#visible,
      store: (value) => {
        const wasShown = this.#visible >= 0
        this.#visible = Math.min(GHOSTS.length, Number(value))
        this.#phase = PERIOD - 1
        if (wasShown !== this.#visible >= 0) this.#appear()
      },
    },
  }

  #makeGhostRows(): Rows {
    const advance = oncePerFetch(this.#context, () => {
      this.#phase = (this.#phase + 1) % PERIOD
    })
    const row = { indom: this.indom, begin: advance }
    return {
      'ghosts.origin': {
        item: 1009,
        ...descOf('string', 'discrete'),
        ...row,
        help: 'Origin of a ghost',
        value: (inst) => GHOSTS[inst - 1]![1],
      },
      'ghosts.karma': {
        item: 1010,
        ...descOf('u32'),
        ...row,
        help: 'Merits of a ghost: as many as its name has letters',
        value: (inst) => GHOSTS[inst - 1]![0].length,
      },
      'ghosts.state': {
        item: 1011,
        ...descOf('u32'),
        ...row,
        help: 'Visibility of a ghost, 0 or 1, in a pattern of 24 fetches',
        text: 'One ghost of each pair is visible when the other is not. The first pair alternates with every fetch, the next ones every two, three and four. The eighth ghost is never visible.',
        value: (inst) => stateOf(inst, this.#phase),
      },
    }
  }
}

function stateOf(inst: number, phase: number): number {
  if (inst === GHOSTS.length) return 0
  const fetches = Math.ceil(inst / 2)
  const isFirstShown = Math.floor(phase / fetches) % 2 === 0
  return isFirstShown === (inst % 2 === 1) ? 1 : 0
}
