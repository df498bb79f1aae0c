/** pmcd.pmlogger.*, pmcd.pmie.*: the loggers and rule engines of this host, from their files in PCP_TMP_DIR. */

import { readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { decodeText } from '../../base/text.ts'
import type { AgentEnv, IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { tmpDirOf } from '../../sys/config.ts'

const CLUSTER_LOGGER = 3
const CLUSTER_RULES = 5
const SERIAL_LOGGERS = 1
const SERIAL_RULES = 4

/** One pmlogger, from its file. */
interface Logger {
  readonly port: number
  readonly pmcdHost: string
  readonly archive: string
  readonly note: string
}

/** One pmie, from its statistics file. */
interface RuleEngine {
  readonly config: string
  readonly log: string
  readonly pmcdHost: string
  readonly expected: number
  /** numrules, actions, true, false, unknown, actual. */
  readonly counts: readonly number[]
}

/** Metrics about pmlogger processes. */
export function loggerMetrics(env: AgentEnv): Record<string, MetricSpec> {
  const { reading, indom } = processes(
    env,
    'pmlogger',
    SERIAL_LOGGERS,
    'pmlogger processes of this host',
    parseLogger,
  )
  const row = (
    item: number,
    type: 'u32' | 'string',
    help: string,
    value: (logger: Logger) => number | string,
  ): MetricSpec => ({
    cluster: CLUSTER_LOGGER,
    item,
    type,
    sem: 'discrete',
    units: 'none',
    indom,
    reading,
    help,
    text: `${help}. Read from the file that each pmlogger keeps in the directory pmlogger of PCP_TMP_DIR.`,
    value: (inst) => pick(reading.value.get(inst), value),
  })
  return {
    'pmcd.pmlogger.port': row(0, 'u32', 'Control port of each pmlogger', (logger) => logger.port),
    'pmcd.pmlogger.pmcd_host': row(
      1,
      'string',
      'Host whose metrics each pmlogger records',
      (logger) => logger.pmcdHost,
    ),
    'pmcd.pmlogger.archive': row(
      2,
      'string',
      'Base name of the archive each pmlogger writes',
      (logger) => logger.archive,
    ),
    'pmcd.pmlogger.host': row(3, 'string', 'Host on which each pmlogger runs', () => hostname()),
    'pmcd.pmlogger.note': row(4, 'string', 'Note each pmlogger was started with', (logger) => logger.note),
  }
}

/** Metrics about pmie processes. */
export function ruleEngineMetrics(env: AgentEnv): Record<string, MetricSpec> {
  const { reading, indom } = processes(
    env,
    'pmie',
    SERIAL_RULES,
    'pmie processes of this host',
    parseRuleEngine,
  )
  const row = (
    item: number,
    kind: Pick<MetricSpec, 'type' | 'sem' | 'units'>,
    help: string,
    value: (engine: RuleEngine) => number | string | undefined,
  ): MetricSpec => ({
    cluster: CLUSTER_RULES,
    item,
    ...kind,
    indom,
    reading,
    help,
    text: `${help}. Read from the file that each pmie keeps in the directory pmie of PCP_TMP_DIR.`,
    value: (inst) => pick(reading.value.get(inst), value),
  })
  const text = { type: 'string', sem: 'discrete', units: 'none' } as const
  const counter = { type: 'u32', sem: 'counter', units: 'count' } as const
  const rate = { type: 'float', sem: 'discrete', units: 'count / sec' } as const
  return {
    'pmcd.pmie.configfile': row(0, text, 'Configuration file of each pmie', (engine) => engine.config),
    'pmcd.pmie.logfile': row(1, text, 'Log file of each pmie', (engine) => engine.log),
    'pmcd.pmie.pmcd_host': row(2, text, 'Host whose metrics each pmie watches', (engine) => engine.pmcdHost),
    'pmcd.pmie.numrules': row(
      3,
      { ...text, type: 'u32' },
      'Rules of each pmie',
      (engine) => engine.counts[0],
    ),
    'pmcd.pmie.actions': row(4, counter, 'Actions each pmie has taken', (engine) => engine.counts[1]),
    'pmcd.pmie.eval.true': row(5, counter, 'Rules each pmie found true', (engine) => engine.counts[2]),
    'pmcd.pmie.eval.false': row(6, counter, 'Rules each pmie found false', (engine) => engine.counts[3]),
    'pmcd.pmie.eval.unknown': row(
      7,
      counter,
      'Rules each pmie could not evaluate',
      (engine) => engine.counts[4],
    ),
    'pmcd.pmie.eval.expected': row(
      8,
      rate,
      'Rules each pmie should evaluate a second',
      (engine) => engine.expected,
    ),
    'pmcd.pmie.eval.actual': row(9, counter, 'Rules each pmie has evaluated', (engine) => engine.counts[5]),
  }
}

function pick<T, V>(item: T | undefined, value: (item: T) => V): V | undefined {
  return item === undefined ? undefined : value(item)
}

/** Reads the files of one daemon, one per process. Returns the reading and the instance domain of the processes. */
function processes<T>(
  env: AgentEnv,
  daemon: string,
  serial: number,
  help: string,
  parse: (bytes: Uint8Array) => T | undefined,
): { reading: Reading<ReadonlyMap<number, T>>; indom: IndomSpec } {
  const folder = join(env.root, tmpDirOf(env.env), daemon)
  const reading = new Reading(() => readProcesses(folder, env.root, parse))
  const indom: IndomSpec = {
    serial,
    reading,
    help: `The ${help}`,
    text: 'Identifier and name of an instance are its process id.',
    instances: () => {
      const ids = [...reading.value.keys()].sort((a, b) => a - b)
      return { ids, names: ids.map(String) }
    },
  }
  return { reading, indom }
}

function readProcesses<T>(
  folder: string,
  root: string,
  parse: (bytes: Uint8Array) => T | undefined,
): ReadonlyMap<number, T> {
  const found = new Map<number, T>()
  for (const name of listFolder(folder)) {
    if (!/^\d+$/.test(name) || !isAlive(root, name)) continue
    try {
      const item = parse(readFileSync(join(folder, name)))
      if (item !== undefined) found.set(Number(name), item)
    } catch {
      // removed in the meantime: the process ended
    }
  }
  return found
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // this daemon never ran here
  }
}

/** Processes that ended without cleaning up leave their files. */
function isAlive(root: string, pid: string): boolean {
  return listFolder(join(root, 'proc', pid)).length > 0
}

function parseLogger(bytes: Uint8Array): Logger | undefined {
  const [port = '', pmcdHost, archive, note = ''] = decodeText(bytes).split('\n')
  if (!/^\d+$/.test(port) || pmcdHost === undefined || archive === undefined) return undefined
  return { port: Number(port), pmcdHost, archive, note }
}

/** The file is a C structure: two paths, a host name, then words in the host's byte order. Observed with 6.0.3. */
const RULES_LOG = 4097
const RULES_HOST = 8194
const RULES_HOST_END = 8259
const RULES_EXPECTED = 8260
const RULES_COUNTS = 8264
const RULES_BYTES = 8292

function parseRuleEngine(bytes: Uint8Array): RuleEngine | undefined {
  if (bytes.length < RULES_BYTES) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = (start: number, end: number): string => {
    const part = bytes.subarray(start, end)
    const nul = part.indexOf(0)
    return decodeText(part, 0, nul < 0 ? part.length : nul)
  }
  return {
    config: text(0, RULES_LOG),
    log: text(RULES_LOG, RULES_HOST),
    pmcdHost: text(RULES_HOST, RULES_HOST_END),
    expected: view.getFloat32(RULES_EXPECTED, true),
    counts: [0, 1, 2, 3, 4, 5].map((i) => view.getUint32(RULES_COUNTS + 4 * i, true)),
  }
}
