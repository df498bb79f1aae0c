/** Archives: `pcp-ts/archive`. docs/archives.md */
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { ArchiveImport } from './archive/import/archive-import.ts'
import type { WriterOptions } from './archive/write/writer.ts'
import { archiveAccess } from './sys/archive-access.ts'
import { archiveOutput } from './sys/archive-output.ts'
import { loadConfig } from './sys/config.ts'

export { Archive, type ArchiveOptions } from './archive/archive.ts'
export { ArchiveImport, IMPORT_DOMAIN } from './archive/import/archive-import.ts'
export type { ImportMetric, MetricOptions } from './archive/import/import-metric.ts'
export type { LabelTarget } from './archive/import/import-notes.ts'
export type { ArchiveLabel } from './archive/label.ts'
export type { ColumnMetric, NumberColumns } from './archive/number-columns.ts'
export { type ReaderOptions, RecordReader } from './archive/reader.ts'
export type { RecordView } from './archive/record-view.ts'
export { type Column, type ScanOptions, type ScanResult, scan } from './archive/scan.ts'
export {
  type ArchiveMode,
  ArchiveSource,
  type ArchiveSourceOptions,
  type NumberRows,
} from './archive/source.ts'
export { type MemoryOutput, memoryOutput } from './archive/write/memory-output.ts'
export type { OutputFiles } from './archive/write/output-files.ts'
export { RecordBuffer } from './archive/write/record-buffer.ts'
export { ArchiveWriter, type WriterOptions } from './archive/write/writer.ts'
export type { Timestamp } from './base/timestamp.ts'
export { type ErrorCode, PcpError } from './model/errors.ts'
export { indom, PM_IN_NULL, PM_INDOM_NULL, pmid } from './model/ids.ts'
export * from './model/types.ts'
export { makeSet, makeSingular } from './model/value-writer.ts'
export { type OpenArchiveOptions, openArchive } from './pmapi/archive.ts'
export type { ArchiveControl, ArchiveRange, SampleRange } from './pmapi/archive-control.ts'
export { archiveFiles } from './sys/archive-files.ts'
export { type ArchiveOutputOptions, archiveOutput } from './sys/archive-output.ts'

/** What an archive says about itself; what is not given is this host, UTC and this process. */
export type CreateOptions = Partial<WriterOptions>

/**
 * Begins an archive of one's own data: BASE.meta, BASE.index and BASE.0, which its first record makes. EEXIST then, when there
 * is an archive of that name.
 */
export function createArchive(base: string, options: CreateOptions = {}): ArchiveImport {
  return new ArchiveImport(
    archiveOutput(base, archiveAccess(dirname(base), loadConfig(process.env).variables)),
    {
      hostname: hostname(),
      timezone: 'UTC',
      pid: process.pid,
      ...options,
    },
  )
}
