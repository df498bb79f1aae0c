/** The record of a running instance, through which commands find it. docs/decisions/discovery.md */
import { chmodSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { VERSION } from '../base/version.ts'
import { userDirs, type Variables } from '../sys/config.ts'
import {
  INSTANCE_FILE,
  type InstancePart,
  type InstanceRecord,
  instancesIn,
  type LocatedInstance,
  MAX_POINTERS,
  POINTER_DIR,
  pointerNames,
  readInstance,
  SERVICE_RUN_DIR,
} from '../sys/instances.ts'
import { makeDir } from '../sys/make-dir.ts'
import { hasEnded, ownIdentity } from '../sys/process-identity.ts'
import { replaceFile } from '../sys/replace-file.ts'
import { hostArchiveDir } from './directories.ts'
import type { PartReports, PartSetup } from './parts.ts'

/** Returns the facts of an instance from the reports of its parts. */
export function instanceFacts(
  { collector, charts }: Pick<PartReports, 'collector' | 'charts'>,
  { options, agents, place }: Pick<PartSetup, 'options' | 'agents' | 'place'>,
): InstanceFacts {
  const { records, keepDays, keepBytes } = options
  return {
    version: VERSION,
    confPath: resolve(place.confPath),
    logPath: resolve(place.logPath),
    port: collector.port,
    listen: options.listen ?? [],
    hasSocket: collector.hasSocket,
    agents,
    ...(charts === undefined ? {} : { webPort: charts.port }),
    ...(records ? { archiveDir: resolve(hostArchiveDir(place)), keepDays, keepBytes } : {}),
  }
}

/** Facts about an instance that its supervisor adds to those of its process. */
export type InstanceFacts = Omit<InstanceRecord, 'process' | 'node' | 'started' | 'parts'>

/** A published record. */
export interface PublishedInstance {
  /** Changes the state of a part, e.g. its process after a restart. */
  setPart(part: InstancePart): void
  /** Removes the record; idempotent. */
  close(): void
}

/**
 * Writes the record of this process into its run directory. An instance outside of the user's own directories also leaves a
 * pointer there. The first of two instances in one directory keeps its record. Throws Node's error if the run directory is not writable; a missing pointer only hides it from commands.
 */
export function publishInstance(
  runDir: string,
  facts: InstanceFacts,
  env: Variables,
  now: () => number = Date.now,
): PublishedInstance {
  const path = join(runDir, INSTANCE_FILE)
  const parts = new Map<string, InstancePart>()
  const base = { ...facts, process: ownIdentity(), node: process.versions.node, started: Math.round(now()) }
  let isClosed = false
  const write = (): void => {
    const record: InstanceRecord = { ...base, parts: [...parts.values()] }
    replaceFile(path, `${JSON.stringify(record, undefined, 2)}\n`)
    chmodSync(path, 0o644) // whatever the umask: other users may see where the collector is
  }
  if (isOfAnother(runDir)) return { setPart: () => {}, close: () => {} }
  write()
  const pointer = point(runDir, env)
  return {
    setPart(part) {
      if (isClosed) return
      parts.set(part.name, part)
      try {
        write()
      } catch {
        // The older record stays, e.g. on a full disk; it only lacks this change.
      }
    },
    close() {
      if (isClosed) return
      isClosed = true
      // A successor may have started meanwhile.
      if (isOwnRecord(runDir)) rmSync(path, { force: true })
      if (pointer !== undefined && isOwnRecord(runDir, true)) rmSync(pointer, { force: true })
    },
  }
}

/** Returns the running instances of this user and the one of the system service. */
export function instances(env: Variables): readonly LocatedInstance[] {
  return instancesIn([userDirs(env).run, SERVICE_RUN_DIR])
}

function isOfAnother(runDir: string): boolean {
  const record = readInstance(runDir)
  return record !== undefined && record.process.pid !== process.pid && !hasEnded(record.process)
}

function isOwnRecord(runDir: string, orNone = false): boolean {
  const record = readInstance(runDir)
  return record === undefined ? orNone : record.process.pid === process.pid
}

/** Leaves a pointer in the user's run directory; returns its path, or undefined if none is needed or possible. */
function point(runDir: string, env: Variables): string | undefined {
  const { run } = userDirs(env)
  const target = resolve(runDir)
  if (target === resolve(run) || target === SERVICE_RUN_DIR) return undefined
  const dir = join(run, POINTER_DIR)
  const path = join(dir, pointerName(target))
  try {
    makeDir(dir, 0o700)
    removeStale(dir)
    if (pointerNames(dir).length >= MAX_POINTERS) return undefined
    replaceFile(path, `${target}\n`)
    return path
  } catch {
    return undefined // no home directory, or a read-only one
  }
}

function pointerName(target: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(target).digest('hex').slice(0, 16)
}

/** Removes pointers to instances that have ended, for example by SIGKILL. */
function removeStale(dir: string): void {
  for (const name of pointerNames(dir)) {
    const path = join(dir, name)
    if (!lstatSync(path).isFile()) continue
    const record = readInstance(readFileSync(path, 'utf8').trim())
    if (record === undefined || hasEnded(record.process)) rmSync(path, { force: true })
  }
}
