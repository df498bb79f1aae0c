/** Derived metrics of the whole process: every context that is opened from then on has them. pmRegisterDerived(3), docs/derived.md */
import { printable } from '../base/printable.ts'
import { loadDerived } from '../derive/config.ts'
import { getControl, setControl, setControls } from '../derive/controls.ts'
import {
  type DerivedControls,
  type DerivedDefinition,
  DerivedDefinitions,
  type DerivedText,
  defaultControls,
  faultText,
  isDefinition,
} from '../derive/definitions.ts'
import { parseEquivalences } from '../derive/equivalence.ts'
import type { SameIndom } from '../derive/meta.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { defaultDerivedList, readDerivedFiles, readEquivalences } from '../sys/derived-files.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** What a context needs to have derived metrics. */
export interface DerivedSetup {
  /** The global definitions that hold for the context; asked for when they are first needed. */
  readonly list: () => readonly DerivedDefinition[]
  /** Limits, and what becomes of metrics that cannot be bound. */
  readonly controls?: DerivedControls
  /** Are these instance domains declared to be the same? */
  readonly sameIndom?: SameIndom
  /** Gets what is wrong with definitions, in whole lines. */
  readonly report?: (text: string) => void
}

/** Derived metrics that contexts may share: definitions, controls, and whether the environment's files were read. */
export class DerivedMetrics {
  readonly controls: DerivedControls = defaultControls()
  readonly #global: DerivedDefinitions = new DerivedDefinitions('global', this.controls)
  readonly #variables: Variables
  #locked: ReadonlySet<string> | undefined
  /** Definitions of configuration files, by file: contexts of one process may have different lists of files. */
  readonly #fromFiles = new Map<string, readonly DerivedDefinition[]>()
  /** The same by list: files are read once. */
  readonly #fromLists = new Map<string, readonly DerivedDefinition[]>()

  /** PCP_DERIVED_CONTROL in `variables` sets controls that nobody else may change then. */
  constructor(variables: Variables = {}) {
    this.#variables = variables
  }

  /** Sets the controls of the environment, before anything depends on them. */
  #lock(report: (text: string) => void = toStderr): ReadonlySet<string> {
    this.#locked ??= setControls(
      this.controls,
      this.#variables['PCP_DERIVED_CONTROL'] || undefined,
      (severity, what) => report(`${severity}: $PCP_DERIVED_CONTROL: ${what}\n`),
    )
    return this.#locked
  }

  /** See `registerDerived`. */
  register(name: string, expression: string): Pmid {
    this.#lock()
    const outcome = this.#global.add(name, expression)
    if (isDefinition(outcome)) return outcome.pmid
    const headline = `Error: pmRegisterDerivedMetric("${name}", ...)`
    throw new PcpError('PM_ERR_BADDERIVE', faultText(headline, expression, outcome))
  }

  /** See `unregisterDerived`. */
  unregister(name: string): void {
    if (!this.#global.remove(name)) throw new PcpError('PM_ERR_NAME', `Unknown derived metric: "${name}"`)
  }

  /** See `addDerivedText`. */
  addText(name: string, level: DerivedText, text: string): void {
    this.#global.setText(name, level, text)
  }

  /** Adds what a configuration text defines; returns how many metrics. */
  load(
    text: string,
    options: { readonly file?: string; readonly report?: (text: string) => void } = {},
  ): number {
    return loadDerived(text, this.#global, { ...options, locked: this.#lock(options.report) })
  }

  /** See `loadDerivedConfig`. */
  loadFiles(list: string, report: (text: string) => void = toStderr): number {
    let count = 0
    const refuse = (path: string, error: Error): never => {
      throw PcpError.from(error, path)
    }
    for (const element of list.split(':'))
      for (const { path, text } of readDerivedFiles(element, refuse))
        count += this.load(text, { file: path, report })
    return count
  }

  /** See `setDerivedControl`. */
  setControl(name: string, value: number): void {
    setControl(this.controls, name, value, this.#lock())
  }

  /**
   * What a context opened now has: what is registered so far, and what the files that `variables` name define. They are read
   * once, when a context first needs them: a name that its source does not know, a walk through the name space.
   */
  setup(variables: Variables = {}, report: (text: string) => void = toStderr): DerivedSetup {
    const ofFiles = new Set([...this.#fromFiles.values()].flat())
    const early = this.#global.list().filter((definition) => !ofFiles.has(definition))
    const list = (): readonly DerivedDefinition[] => [
      ...new Set([...early, ...this.#readFiles(defaultDerivedList(variables), report)]),
    ]
    let equivalences: SameIndom | undefined
    const sameIndom: SameIndom = (a, b) => {
      equivalences ??= parseEquivalences(readEquivalences(variables))
      return equivalences(a, b)
    }
    return { list, sameIndom, report, controls: this.controls }
  }

  #readFiles(list: string, report: (text: string) => void): readonly DerivedDefinition[] {
    const known = this.#fromLists.get(list)
    if (known !== undefined) return known
    this.#fromLists.set(list, []) // for a definition that asks for the list while it is read
    const all = readDerivedFiles(list).flatMap(({ path, text }) => {
      let defined = this.#fromFiles.get(path)
      if (defined === undefined) {
        const before = this.#global.list().length
        this.load(text, { file: path, report })
        defined = this.#global.list().slice(before)
        this.#fromFiles.set(path, defined)
      }
      return defined
    })
    this.#fromLists.set(list, all)
    return all
  }
}

/** Derived metrics of this process. */
const PROCESS: DerivedMetrics = new DerivedMetrics(process.env)

/** What a context opened now has of this process's derived metrics; see `DerivedMetrics.setup`. */
export function derivedSetup(variables?: Variables, report?: (text: string) => void): DerivedSetup {
  return PROCESS.setup(variables, report)
}

/**
 * Defines a derived metric for every context that is opened or reconnected from now on. PM_ERR_BADDERIVE with a message of
 * several lines that points at what is wrong with the expression, PM_ERR_NAME for what can be no name. Whether the expression
 * has a meaning depends on the source: a metric without one has PM_ERR_BADDERIVE for a descriptor.
 *
 * @example
 * registerDerived('disk.busy', 'topk(3, rate(disk.dev.total))')
 *
 * @see pmRegisterDerivedMetric(3)
 */
export function registerDerived(name: string, expression: string): Pmid {
  return PROCESS.register(name, expression)
}

/** Forgets a derived metric of `registerDerived`, also in open contexts. PM_ERR_NAME. @see pmUnregisterDerived(3) */
export function unregisterDerived(name: string): void {
  PROCESS.unregister(name)
}

/** Gives a derived metric of `registerDerived` a help text. PM_ERR_NAME, PM_ERR_TEXT when it has one. @see pmAddDerivedText(3) */
export function addDerivedText(name: string, level: DerivedText, text: string): void {
  PROCESS.addText(name, level, text)
}

/**
 * Defines what configuration files say: a list of files and directories by colon. Returns how many metrics; what is wrong
 * goes to `report`, by default the standard error. ENOENT... of the first that cannot be read: what those before it say is
 * defined, the rest is not looked at. @see pmLoadDerivedConfig(3)
 */
export function loadDerivedConfig(list: string, report?: (text: string) => void): number {
  return PROCESS.loadFiles(list, report)
}

/** Sets a control such as `global_limit`. PM_ERR_ARG, PM_ERR_AGAIN when the environment sets it. @see pmSetDerivedControl(3) */
export function setDerivedControl(name: string, value: number): void {
  PROCESS.setControl(name, value)
}

/** The value of a control. PM_ERR_ARG. @see pmGetDerivedControl(3) */
export function getDerivedControl(name: string): number {
  return getControl(PROCESS.controls, name)
}

function toStderr(text: string): void {
  process.stderr.write(process.stderr.isTTY ? printable(text) : text)
}
