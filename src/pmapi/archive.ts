/** Contexts on archives. pmNewContext(3) PM_CONTEXT_ARCHIVE, docs/reference/client-library.md */
import { Archive } from '../archive/archive.ts'
import { scan } from '../archive/scan.ts'
import { ArchiveSource, type ArchiveSourceOptions } from '../archive/source.ts'
import type { ArchiveFiles } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { isDerivedPmid } from '../derive/definitions.ts'
import { isError, PcpError } from '../model/errors.ts'
import { type Indom, type Pmid, pmidStr } from '../model/ids.ts'
import { overrideSource } from '../model/layer.ts'
import { ALL_INSTANCES } from '../model/profile.ts'
import type { FetchResult } from '../model/values.ts'
import { withLocalNames } from '../pmns/local-names.ts'
import { Pmns } from '../pmns/tree.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import { compareTimes } from '../time/arithmetic.ts'
import { parseInterval } from '../time/interval.ts'
import type { ArchiveControl, ArchiveRange } from './archive-control.ts'
import type { Clock } from './clock.ts'
import { type CallOptions, Context } from './context.ts'
import { type DerivedSetup, derivedSetup } from './derived.ts'
import { isEndOfArchive } from './samples.ts'
import { settingsOf } from './settings.ts'

/** Options of `openArchive`. */
export interface OpenArchiveOptions {
  /** Default: the environment of this process. PCP_COUNTER_WRAP, PCP_IGNORE_MARK_RECORDS, PCP_INTERP_EARLIER and PCP_DERIVED_CONFIG are read. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Replaces the metric names of the archive. */
  readonly names?: Pmns
  /** File access; default: this machine's files. */
  readonly files?: ArchiveFiles
  /** Accept archives whose label has unknown feature bits. */
  readonly anyFeatures?: boolean
  /** Returns whether to treat a metric or domain as not recorded; default: never. */
  readonly isExcluded?: (id: Pmid | Indom) => boolean
  /** Interpolate discrete and instantaneous numbers with the nearer observation, else (as before PCP 6.3.2) with the earlier one. Default true unless PCP_INTERP_EARLIER is set. */
  readonly nearest?: boolean
  /** Make every damaged record an error, as PCP does. By default a torn record ends its volume, and damage skips that archive of a list. */
  readonly stopsAtDamage?: boolean
  /** Called for archives of a list that are skipped and for records lost to damage. */
  readonly onWarning?: (warning: PcpError) => void
  /** Derived metrics; default: those of `registerDerived`, and of the files that PCP_DERIVED_CONFIG names. */
  readonly derived?: () => DerivedSetup
  /** Clock used by `sample`; replaced in tests. */
  readonly clock?: Clock
}

/** A context on archives; its `archive` is always defined. */
export interface ArchiveContext extends Context {
  readonly archive: ArchiveControl
  /** Returns another context on the same archives, at the same position in the same mode. @see Context.dup */
  dup(options?: CallOptions): Promise<ArchiveContext>
}

/**
 * Opens archives as a context: base names, names of any of their files, or directories of archives; several follow each
 * other in time. Close the context when done. ENOENT, PM_ERR_LOGFILE, PM_ERR_LABEL, PM_ERR_LOGREC, PM_ERR_NODATA,
 * PM_ERR_LOGHOST, PM_ERR_LOGOVERLAP...
 *
 * @example
 * const day = await openArchive('/var/log/pcp/pmlogger/db1/20260101')
 * const id = await day.lookupName('kernel.all.load')
 * for (const column of day.archive.scan([id]).columns) console.log(column.inst, column.times, column.values)
 * await day.close()
 *
 * @see pmNewContext(3)
 */
export async function openArchive(
  names: string | readonly string[],
  options: OpenArchiveOptions = {},
): Promise<ArchiveContext> {
  const { files = archiveFiles(), anyFeatures, stopsAtDamage, onWarning, isExcluded } = options
  const archive = Archive.open(names, files, {
    ...(anyFeatures === undefined ? {} : { anyFeatures }),
    ...(stopsAtDamage === undefined ? {} : { stopsAtDamage }),
    ...(onWarning === undefined ? {} : { onWarning }),
    ...(isExcluded === undefined ? {} : { ignores: isExcluded }),
  })
  const rules = interpolationRules(options)
  return contextOn(new ArchiveSource(archive, rules), new Set(), options)
}

/** Returns the interpolation rules set by options and environment. EINVAL for an invalid interval in PCP_IGNORE_MARK_RECORDS. */
export function interpolationRules({
  env = process.env,
  nearest,
}: Pick<OpenArchiveOptions, 'env' | 'nearest'>): ArchiveSourceOptions {
  const ignored = env['PCP_IGNORE_MARK_RECORDS']
  return {
    counterWrap: env['PCP_COUNTER_WRAP'] !== undefined,
    nearest: nearest ?? env['PCP_INTERP_EARLIER'] === undefined,
    ...(ignored === undefined ? {} : { ignoreMarksSec: secondsIn(ignored) }),
  }
}

/** Empty text means all marks. An invalid interval is an error, because guessing would change values. */
function secondsIn(text: string): number {
  if (text === '') return 0
  try {
    const { sec, nsec } = parseInterval(text)
    return sec + nsec / 1e9
  } catch (error) {
    const why = PcpError.from(error).message
    throw new PcpError('EINVAL', `PCP_IGNORE_MARK_RECORDS is not an interval:\n${why}`, { cause: error })
  }
}

/** Creates a context on a source that shares its archive with other open contexts; the last to close closes the archive. */
function contextOn(
  source: ArchiveSource,
  open: Set<ArchiveSource>,
  options: OpenArchiveOptions,
): ArchiveContext {
  const { names, clock } = options
  open.add(source)
  const close = async (): Promise<void> => {
    if (open.delete(source) && open.size === 0) source.archive.close()
  }
  const named = names === undefined ? source : withLocalNames(source, recordedNames(names, source.archive))
  return Context.over(overrideSource(named, { close }), {
    hostname: source.archive.label.hostname,
    archive: controlOf(source),
    derived: options.derived ?? (() => derivedSetup(settingsOf(options.env))),
    dup: () => contextOn(source.dup(), open, options),
    ...(clock === undefined ? {} : { clock }),
  }) as ArchiveContext
}

/** Returns the names whose metrics an archive has. @see pmTrimNameSpace(3) */
function recordedNames(names: Pmns, { metadata }: Archive): Pmns {
  const trimmed = new Pmns()
  names.walk('', (name, id) => {
    if (metadata.descs.has(id)) trimmed.add(name, id)
  })
  return trimmed
}

function controlOf(source: ArchiveSource): ArchiveControl {
  const { archive } = source
  const { metadata } = archive
  const end = (): Timestamp => {
    const found = archive.end()
    if (isError(found)) throw found
    return found
  }
  return {
    label: archive.label,
    start: archive.start,
    end,
    get mode() {
      return source.mode
    },
    get origin() {
      return source.origin
    },
    setMode: (mode, when, stepSec) => source.setMode(mode, when, stepSec),
    moveTo: (when) => source.moveTo(when),
    fetchRecord: (ids, options) => source.fetchRecord(ids, options),
    fetchNow: (ids, profile) => source.fetchNow(ids, profile),
    instances: (indom) => metadata.instances(indom, undefined, undefined),
    instanceId: (indom, name) => metadata.instances(indom, { name }, undefined).ids[0]!,
    instanceName: (indom, id) => metadata.instances(indom, { id }, undefined).names[0]!,
    records: (range = {}) => {
      const other = source.dup()
      const { from, isWithin } = boundsOf(range, archive.start, end)
      other.setMode(range.backward === true ? 'backward' : 'forward', from)
      return until(isWithin, () => other.fetchRecord())
    },
    samples: (ids, stepSec, range = {}) => {
      insistOnRecorded(ids)
      if (!(stepSec > 0)) throw new PcpError('PM_ERR_ARG', `A step must be positive: ${stepSec}`)
      const other = source.dup()
      const { from, isWithin } = boundsOf(range, archive.start, end)
      other.setMode('interpolate', from, range.backward === true ? -stepSec : stepSec)
      return until(isWithin, () => other.fetchNow(ids, ALL_INSTANCES, range.reusesMemory === true))
    },
    rows: (metrics, profile) => {
      insistOnRecorded(metrics.map(({ desc }) => desc.pmid))
      return source.rows(metrics, profile)
    },
    valueRows: (ids, profile) => {
      insistOnRecorded(ids)
      return source.valueRows(ids, profile)
    },
    scan: (ids, options) => {
      insistOnRecorded(ids)
      return scan(archive, ids, options)
    },
  }
}

/** Derived metrics are computed above the archive, for calls of the context only. */
function insistOnRecorded(ids: readonly Pmid[]): void {
  const derived = ids.find(isDerivedPmid)
  if (derived !== undefined)
    throw new PcpError(
      'PM_ERR_PMID_LOG',
      `Metric ${pmidStr(derived)} is derived, not recorded: use sample, table or fetch of the context`,
    )
}

/** Returns where a range starts, and a function that tests whether a time is before its other end. */
function boundsOf(
  { from, to, backward = false }: ArchiveRange,
  start: Timestamp,
  end: () => Timestamp,
): { readonly from: Timestamp; readonly isWithin: (time: Timestamp) => boolean } {
  return {
    from: from ?? (backward ? end() : start),
    isWithin: (time) =>
      to === undefined || (backward ? compareTimes(time, to) >= 0 : compareTimes(time, to) <= 0),
  }
}

/** Yields results within a range, up to the end of the archive. */
function* until(
  isWithin: (time: Timestamp) => boolean,
  fetch: () => FetchResult,
): IterableIterator<FetchResult> {
  for (;;) {
    let result: FetchResult
    try {
      result = fetch()
    } catch (error) {
      if (isEndOfArchive(error)) return
      throw error
    }
    if (!isWithin(result.timestamp)) return
    yield result
  }
}
