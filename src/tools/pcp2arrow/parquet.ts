/** Writes columns to a Parquet file, with the package hyparquet-writer. docs/decisions/arrow.md */
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { Output } from '../lib/tool.ts'
import type { Batch, Column, ColumnWriter, Kind } from './columns.ts'

const ELEMENTS: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  int32: { type: 'INT32' },
  uint32: { type: 'INT32', converted_type: 'UINT_32' },
  int64: { type: 'INT64' },
  uint64: { type: 'INT64', converted_type: 'UINT_64' },
  float: { type: 'FLOAT' },
  double: { type: 'DOUBLE' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
}

/** Writes a row group for each batch, compressed by Snappy. `facts` are the file's metadata. */
export function parquetWriter(
  columns: readonly Column[],
  out: Output,
  facts: Readonly<Record<string, string>>,
): ColumnWriter {
  const bytes = new ByteWriter()
  const flush = (): void => {
    out.writeBytes(new Uint8Array(bytes.buffer, 0, bytes.index))
    bytes.index = 0
  }
  bytes.finish = flush
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length + 1 },
    {
      name: 'timestamp',
      type: 'INT64',
      repetition_type: 'REQUIRED',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' },
    },
    ...columns.map(
      ({ name, kind }): SchemaElement => ({ name, ...ELEMENTS[kind], repetition_type: 'OPTIONAL' }),
    ),
  ]
  const kvMetadata = Object.entries(facts).map(([key, value]) => ({ key, value }))
  const writer = new ParquetWriter({ writer: bytes, schema, kvMetadata, createdBy: 'pcp2arrow' })
  return {
    write({ times, values }: Batch): void {
      const columnData = [
        { name: 'timestamp', data: [...times] },
        ...columns.map(({ name }, i) => ({ name, data: [...values[i]!] })),
      ]
      void writer.write({ columnData, rowGroupSize: times.length })
      flush()
    },
    finish(): void {
      void writer.finish()
    },
  }
}
