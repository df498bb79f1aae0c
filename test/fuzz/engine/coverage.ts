/** V8's block coverage of this thread: which blocks an input reaches, and whether any of them is new. */
import { readFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'

/** A range of a function's source that runs equally often throughout. */
interface Segment {
  readonly start: number
  readonly end: number
  readonly count: number
}

/** Coverage of one function. */
interface Known {
  /** Boundaries between its blocks seen so far, with the number of the block that starts there. */
  readonly cuts: Map<number, number>
  /** Source that no input has reached. */
  missing: readonly Segment[]
  readonly script: Script
  readonly range: Profiler.CoverageRange
}

/** A bundled file and its sources. */
interface Script {
  readonly text: string
  readonly modules: readonly { readonly start: number; readonly path: string }[]
  readonly functions: Map<number, Known>
}

/** Code that ran between two calls of `take`. */
export interface Taken {
  readonly functions: readonly { readonly known: Known; readonly segments: readonly Segment[] }[]
  /** How often blocks ran: a measure of work that does not depend on the machine. */
  readonly steps: number
}

/** An offset in the source of a function. */
export interface Place {
  readonly known: Known
  readonly offset: number
}

/** esbuild's comment before each source. */
const MODULE = /^\/\/ ((?:src|test|node_modules)\/\S+)$/gm
/** Code that is not under test. */
const UNMEASURED = /^(?:node_modules\/|test\/fuzz\/)/
const WIDTH = 2 ** 26
/** Marks a function that was never reached. */
const UNREACHED = -1

/** Block coverage of the bundled files in one directory, outside the fuzzer itself. */
export class Coverage {
  readonly #session = new Session()
  readonly #scripts = new Map<string, Script | undefined>()
  readonly #directory: string
  #blocks = 0
  #fresh: Known[] = []

  /** Starts counting; `directory` is the URL that all bundled files begin with. */
  constructor(directory: string) {
    this.#directory = directory
    this.#session.connect()
    this.#post('Profiler.enable')
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Returns what ran since the last call. */
  take(): Taken {
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    const functions: { known: Known; segments: Segment[] }[] = []
    let steps = 0
    for (const { url, functions: covered } of result) {
      const script = this.#script(url)
      if (script === undefined) continue
      for (const { ranges } of covered) {
        const known = this.#known(script, ranges[0]!)
        if (known === undefined) continue
        const segments = flatten(ranges)
        for (const { count } of segments) steps += count
        functions.push({ known, segments })
      }
    }
    return { functions, steps }
  }

  /** Whether anything ran that no earlier input reached. */
  isNew({ functions }: Taken): boolean {
    return functions.some(({ known, segments }) => segments.some((one) => isMissing(known, one)))
  }

  /** Returns one place in each stretch of source that ran for the first time. */
  newPlaces({ functions }: Taken): Place[] {
    return functions.flatMap(({ known, segments }) =>
      segments
        .filter(({ count }) => count > 0)
        .flatMap(({ start, end }) =>
          known.missing
            .filter((gap) => gap.start < end && start < gap.end)
            .map((gap) => ({ known, offset: Math.max(gap.start, start) })),
        ),
    )
  }

  /** Whether all of these places ran. */
  reaches({ functions }: Taken, places: readonly Place[]): boolean {
    const byKnown = new Map(functions.map(({ known, segments }) => [known, segments]))
    return places.every(({ known, offset }) =>
      byKnown.get(known)?.some(({ start, end, count }) => count > 0 && start <= offset && offset < end),
    )
  }

  /** Counts what ran as reached; returns the numbers of its blocks. */
  add({ functions }: Taken): number[] {
    const blocks: number[] = []
    for (const { known, segments } of functions) {
      const isFresh = known.missing[0]?.count === UNREACHED
      if (isFresh && segments.some(({ count }) => count > 0)) this.#fresh.push(known)
      for (const { start, end, count } of segments) {
        if (!known.cuts.has(start)) known.cuts.set(start, this.#blocks++)
        if (count > 0 && known.missing.length > 0) known.missing = without(known.missing, start, end)
      }
      for (const [cut, block] of known.cuts)
        if (segments.some(({ start, end, count }) => count > 0 && start <= cut && cut < end))
          blocks.push(block)
    }
    return blocks
  }

  /** Number of blocks reached so far. */
  reached(): number {
    let reached = 0
    for (const script of this.#scripts.values())
      for (const { cuts, missing } of script?.functions.values() ?? [])
        for (const cut of cuts.keys())
          if (!missing.some(({ start, end }) => start <= cut && cut < end)) reached++
    return reached
  }

  /** Returns the source of functions that were reached for the first time since the last call. */
  freshSources(): string[] {
    const sources = this.#fresh.map(({ script, range }) =>
      script.text.slice(range.startOffset, range.endOffset),
    )
    this.#fresh = []
    return sources
  }

  /** Returns the source file of a place in a bundled file; undefined outside the code under test. */
  moduleAt(url: string, line: number, column: number): string | undefined {
    const script = this.#script(url)
    if (script === undefined) return undefined
    let offset = 0
    for (let i = 1; i < line; i++) offset = script.text.indexOf('\n', offset) + 1
    return moduleOf(script, offset + column)
  }

  #script(url: string): Script | undefined {
    if (this.#scripts.has(url)) return this.#scripts.get(url)
    let script: Script | undefined
    if (url.startsWith(this.#directory)) {
      const text = readFileSync(fileURLToPath(url), 'utf8')
      const modules = [...text.matchAll(MODULE)].map((match) => ({ start: match.index, path: match[1]! }))
      script = { text, modules, functions: new Map() }
    }
    this.#scripts.set(url, script)
    return script
  }

  #known(script: Script, range: Profiler.CoverageRange): Known | undefined {
    const key = range.startOffset * WIDTH + range.endOffset
    const found = script.functions.get(key)
    if (found !== undefined) return found
    if (moduleOf(script, range.startOffset) === undefined) return undefined
    const missing = [{ start: range.startOffset, end: range.endOffset, count: UNREACHED }]
    const known: Known = { cuts: new Map(), missing, script, range }
    script.functions.set(key, known)
    return known
  }

  #post(method: string, params: object = {}): unknown {
    let answer: unknown
    this.#session.post(method, params, (error, result) => {
      if (error !== null) throw error
      answer = result
    })
    return answer
  }
}

function moduleOf({ modules }: Script, offset: number): string | undefined {
  let low = 0
  let high = modules.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (modules[middle]!.start <= offset) low = middle + 1
    else high = middle
  }
  const path = modules[low - 1]?.path
  return path === undefined || UNMEASURED.test(path) ? undefined : path
}

/** Flattens nested ranges to a sequence: V8 omits ranges with the same count as the enclosing one. */
function flatten(ranges: readonly Profiler.CoverageRange[]): Segment[] {
  const segments: Segment[] = []
  const open: Profiler.CoverageRange[] = []
  let at = ranges[0]!.startOffset
  const advance = (end: number, count: number): void => {
    if (end <= at) return
    segments.push({ start: at, end, count })
    at = end
  }
  for (const range of ranges) {
    while (open.length > 0 && range.startOffset >= open.at(-1)!.endOffset) {
      const { endOffset, count } = open.pop()!
      advance(endOffset, count)
    }
    if (open.length > 0) advance(range.startOffset, open.at(-1)!.count)
    open.push(range)
  }
  for (const { endOffset, count } of open.reverse()) advance(endOffset, count)
  return segments
}

function isMissing({ missing }: Known, { start, end, count }: Segment): boolean {
  return count > 0 && missing.some((gap) => gap.start < end && start < gap.end)
}

function without(gaps: readonly Segment[], start: number, end: number): Segment[] {
  return gaps.flatMap((gap) => {
    if (gap.end <= start || end <= gap.start) return [gap]
    const left = { start: gap.start, end: start, count: 0 }
    const right = { start: end, end: gap.end, count: 0 }
    return [left, right].filter((rest) => rest.start < rest.end)
  })
}
