/** Derived metrics of the process, shared by every context opened later. pmRegisterDerived(3), docs/reference/derived-metrics.md */
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

/** A context's derived metrics. */
export interface DerivedSetup {
  /** Returns the global definitions for the context; called when they are first needed. */
  readonly list: () => readonly DerivedDefinition[]
  /** Limits and the handling of metrics that cannot be bound. */
  readonly controls?: DerivedControls
  /** Returns whether two instance domains are declared to be the same. */
  readonly sameIndom?: SameIndom
  /** Receives problems of definitions as whole lines. */
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
  /** The same by list of files, so that each list is read once. */
  readonly #fromLists = new Map<string, readonly DerivedDefinition[]>()

  /** PCP_DERIVED_CONTROL in `variables` sets controls, which are then read-only. */
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

  /** Defines the metrics of a configuration text; returns their number. */
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
   * Returns the derived metrics of a context opened now: those registered so far and those of the files named in
   * `variables`. The files are read once, when a context first looks up an unknown name or walks the name space.
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
    this.#fromLists.set(list, []) // for a definition that needs the list while it is being read
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

/** Returns this process's derived metrics for a context opened now; see `DerivedMetrics.setup`. */
export function derivedSetup(variables?: Variables, report?: (text: string) => void): DerivedSetup {
  return PROCESS.setup(variables, report)
}

/**
 * Defines a derived metric for every context opened or reconnected from now on. PM_ERR_BADDERIVE with a message of
 * several lines that points at the error in the expression, PM_ERR_NAME for an invalid name. Whether the expression is
 * valid depends on the source; if it is not, looking up the metric's descriptor fails with PM_ERR_BADDERIVE.
 *
 * @example
 * registerDerived('disk.busy', 'topk(3, rate(disk.dev.total))')
 *
 * @see pmRegisterDerivedMetric(3)
 */
export function registerDerived(name: string, expression: string): Pmid {
  return PROCESS.register(name, expression)
}

/** Removes a derived metric of `registerDerived`, also from open contexts. PM_ERR_NAME. @see pmUnregisterDerived(3) */
export function unregisterDerived(name: string): void {
  PROCESS.unregister(name)
}

/** Sets the help text of a derived metric of `registerDerived`. PM_ERR_NAME, or PM_ERR_TEXT if it has one. @see pmAddDerivedText(3) */
export function addDerivedText(name: string, level: DerivedText, text: string): void {
  PROCESS.addText(name, level, text)
}

/**
 * Loads definitions from a colon-separated list of files and directories and returns their number. Problems go to
 * `report`, by default standard error. Throws ENOENT etc. at the first unreadable file, keeping the definitions of the
 * files before it. @see pmLoadDerivedConfig(3)
 */
export function loadDerivedConfig(list: string, report?: (text: string) => void): number {
  return PROCESS.loadFiles(list, report)
}

/** Sets a control such as `global_limit`. PM_ERR_ARG, or PM_ERR_AGAIN if the environment sets it. @see pmSetDerivedControl(3) */
export function setDerivedControl(name: string, value: number): void {
  PROCESS.setControl(name, value)
}

/** Returns the value of a control. PM_ERR_ARG. @see pmGetDerivedControl(3) */
export function getDerivedControl(name: string): number {
  return getControl(PROCESS.controls, name)
}

function toStderr(text: string): void {
  process.stderr.write(process.stderr.isTTY ? printable(text) : text)
}
