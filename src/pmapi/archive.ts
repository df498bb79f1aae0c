/** Contexts on archives. pmNewContext(3) PM_CONTEXT_ARCHIVE, docs/pmapi.md */
import { Archive } from '../archive/archive.ts'
import { scan } from '../archive/scan.ts'
import { ArchiveSource, type ArchiveSourceOptions } from '../archive/source.ts'
import type { ArchiveFiles } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { isDerivedPmid } from '../derive/definitions.ts'
import { isError, PcpError } from '../model/errors.ts'
import { type Indom, type Pmid, pmidStr } from '../model/ids.ts'
import { layer } from '../model/layer.ts'
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

/** How to open archives. */
export interface OpenArchiveOptions {
  /** Default: the environment of this process. PCP_COUNTER_WRAP, PCP_IGNORE_MARK_RECORDS, PCP_INTERP_EARLIER and PCP_DERIVED_CONFIG are read. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Take metric names from here instead of from the archive. */
  readonly names?: Pmns
  /** Where archives are; default: this machine's files. */
  readonly files?: ArchiveFiles
  /** Accept archives whose label has feature bits that are not known. */
  readonly anyFeatures?: boolean
  /** Chooses metrics and domains that are treated as if they had not been recorded; default none. */
  readonly isLeftOut?: (id: Pmid | Indom) => boolean
  /** Between two observations of a number that is no counter: the nearer one, or, as before PCP 6.3.2, the earlier one; default: the nearer one unless PCP_INTERP_EARLIER is set. */
  readonly nearest?: boolean
  /** Every damaged record is an error, as in PCP; by default one that a power cut tore ends its volume, and damage its archive of a list. */
  readonly stopsAtDamage?: boolean
  /** Hears about archives of a list that are left out, and about records lost to damage. */
  readonly onWarning?: (warning: PcpError) => void
  /** Derived metrics; default: those of `registerDerived`, and of the files that PCP_DERIVED_CONFIG names. */
  readonly derived?: () => DerivedSetup
  /** What `sample` keeps time by; tests give their own. */
  readonly clock?: Clock
}

/** A context on archives: its `archive` is never undefined. */
export interface ArchiveContext extends Context {
  readonly archive: ArchiveControl
  /** Another context on the same archives, at the same position in the same mode. @see Context.dup */
  dup(options?: CallOptions): Promise<ArchiveContext>
}

/**
 * Opens archives as a source of metrics: base names, names of any of their files, or directories of archives; several follow each other
 * in time. Close the context when done. ENOENT, PM_ERR_LOGFILE, PM_ERR_LABEL, PM_ERR_LOGREC, PM_ERR_NODATA, PM_ERR_LOGHOST,
 * PM_ERR_LOGOVERLAP...
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
  const { files = archiveFiles(), anyFeatures, stopsAtDamage, onWarning, isLeftOut } = options
  const archive = Archive.open(names, files, {
    ...(anyFeatures === undefined ? {} : { anyFeatures }),
    ...(stopsAtDamage === undefined ? {} : { stopsAtDamage }),
    ...(onWarning === undefined ? {} : { onWarning }),
    ...(isLeftOut === undefined ? {} : { isLeftOut }),
  })
  const rules = sourceRules(options)
  return contextOn(new ArchiveSource(archive, rules), new Set(), options)
}

/** Returns the rules of interpolation that options and the environment ask for. EINVAL for a PCP_IGNORE_MARK_RECORDS that is no interval. */
export function sourceRules({
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

/** Nothing stands for all marks. An interval that cannot be read is an error: to guess would change values. */
function secondsIn(text: string): number {
  if (text === '') return 0
  try {
    const { sec, nsec } = parseInterval(text)
    return sec + nsec / 1e9
  } catch (error) {
    const why = PcpError.from(error).message
    throw new PcpError('EINVAL', `PCP_IGNORE_MARK_RECORDS is no interval:\n${why}`, { cause: error })
  }
}

/** A context on a source that shares its archive with those of other contexts that are open: the last one closes it. */
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
  return Context.over(layer(named, { close }), {
    hostname: source.archive.label.hostname,
    archive: controlOf(source),
    derived: options.derived ?? (() => derivedSetup(settingsOf(options.env))),
    dup: () => contextOn(source.dup(), open, options),
    ...(clock === undefined ? {} : { clock }),
  }) as ArchiveContext
}

/** The names of metrics that an archive has. @see pmTrimNameSpace(3) */
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
    fetchRecord: (ids) => source.fetchRecord(ids),
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
      return until(isWithin, () => other.fetchNow(ids, ALL_INSTANCES, range.isPassing === true))
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

/** Derived metrics are a layer above the archive, which only questions to the context pass. */
function insistOnRecorded(ids: readonly Pmid[]): void {
  const derived = ids.find(isDerivedPmid)
  if (derived !== undefined)
    throw new PcpError(
      'PM_ERR_PMID_LOG',
      `Metric ${pmidStr(derived)} is derived, not recorded: read it with sample, table or fetch of the context`,
    )
}

/** Where a range starts, and whether a moment is before its other end. */
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

/** Results while they are within a range, up to the end of the archive. */
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
