/** Writes columns to an Arrow file, also called Feather 2, with the package apache-arrow. docs/decisions/arrow.md */
import {
  type DataType,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  TimestampNanosecond,
  Uint32,
  Uint64,
  Utf8,
  vectorFromArray,
} from 'apache-arrow'
import type { Output } from '../lib/tool.ts'
import type { Batch, Column, ColumnWriter, Kind } from './columns.ts'

const STAMP = new TimestampNanosecond('UTC')
const TYPES: Readonly<Record<Kind, () => DataType>> = {
  int32: () => new Int32(),
  uint32: () => new Uint32(),
  int64: () => new Int64(),
  uint64: () => new Uint64(),
  float: () => new Float32(),
  double: () => new Float64(),
  string: () => new Utf8(),
}

/** Writes a record batch for each batch. `facts` are the file's metadata. */
export function ipcWriter(
  columns: readonly Column[],
  out: Output,
  facts: Readonly<Record<string, string>>,
): ColumnWriter {
  const fields = [
    new Field('timestamp', STAMP, false),
    ...columns.map(({ name, kind }) => new Field(name, TYPES[kind](), true)),
  ]
  const schema = new Schema(fields, new Map(Object.entries(facts)))
  const writer = new RecordBatchFileWriter()
  writer.reset(undefined, schema)
  return {
    write({ times, values }: Batch): void {
      const { length } = times
      // makeVector would convert the times to milliseconds.
      const stamps = makeData({ type: STAMP, length, nullCount: 0, data: BigInt64Array.from(times) })
      const cells = values.map((column, i) => vectorFromArray(column, fields[i + 1]!.type).data[0]!)
      const children = [stamps, ...cells]
      const data = makeData({ type: new Struct(fields), length, nullCount: 0, children })
      writer.write(new RecordBatch(schema, data))
    },
    finish(): void {
      writer.finish()
      out.writeBytes(writer.toUint8Array(true))
    },
  }
}
