/** `pcp-ts/archive` for browsers: all of it except access to files on disk. docs/reference/archive-library.md */
export { Archive, type ArchiveOptions } from './archive/archive.ts'
export { ArchiveImport, IMPORT_DOMAIN, type ImportOptions } from './archive/import/archive-import.ts'
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
export { indom, PM_ID_NULL, PM_IN_NULL, PM_INDOM_NULL, pmid } from './model/ids.ts'
export * from './model/types.ts'
export { makeSet, makeSingular } from './model/value-writer.ts'
