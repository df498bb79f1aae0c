/** Written columns are read back by the packages that others use. */
import { tableFromIPC } from 'apache-arrow'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import type { Output } from '../../../src/tools/lib/tool.ts'
import type { Batch, Column, ColumnWriter, Kind } from '../../../src/tools/pcp2arrow/columns.ts'
import { ipcWriter } from '../../../src/tools/pcp2arrow/ipc.ts'
import { parquetWriter } from '../../../src/tools/pcp2arrow/parquet.ts'

const KINDS: readonly Kind[] = ['int32', 'uint32', 'int64', 'uint64', 'float', 'double', 'string']
// The writers do not look at the metric.
const COLUMNS = KINDS.map((kind, at) => ({ name: `a.${kind}[x y]`, kind, at, inst: 0 }) as unknown as Column)

const FIRST: Batch = {
  times: [1_700_000_000_123_456_789n, 1_700_000_001_000_000_000n],
  values: [
    [-5, null],
    [4_000_000_000, 7],
    [-(2n ** 62n), null],
    [2n ** 64n - 1n, 3n],
    [0.5, null],
    [null, 1e300],
    ['grün', null],
  ],
}
const SECOND: Batch = { times: [1_700_000_002_000_000_000n], values: KINDS.map(() => [null]) }

function written(make: (out: Output) => ColumnWriter): Uint8Array {
  const blocks: Uint8Array[] = []
  const writer = make({
    write: () => {},
    writeControls: () => {},
    writeBytes: (bytes) => blocks.push(bytes.slice()),
    flush: async () => {},
    isTerminal: false,
  })
  writer.write(FIRST)
  writer.write(SECOND)
  writer.finish()
  return new Uint8Array(Buffer.concat(blocks))
}

test('Parquet files contain the written values', async () => {
  const { buffer } = written((out) => parquetWriter(COLUMNS, out, { 'pcp.host': 'h' }))
  const file = buffer as ArrayBuffer
  const rows = await parquetReadObjects({ file })
  expect(rows).toHaveLength(3)
  expect(rows[0]).toMatchObject({
    'a.int32[x y]': -5,
    'a.uint32[x y]': 4_000_000_000,
    'a.int64[x y]': -(2n ** 62n),
  })
  expect(rows[0]).toMatchObject({
    'a.uint64[x y]': 2n ** 64n - 1n,
    'a.float[x y]': 0.5,
    'a.string[x y]': 'grün',
  })
  expect(rows[1]).toMatchObject({ 'a.int32[x y]': null, 'a.double[x y]': 1e300 })
  expect(rows[0]!['timestamp']).toEqual(new Date(1_700_000_000_123))
  expect(parquetMetadata(file).row_groups).toHaveLength(2)
  expect(parquetMetadata(file).key_value_metadata).toContainEqual({ key: 'pcp.host', value: 'h' })
})

test('Arrow files contain the written values', () => {
  const table = tableFromIPC(written((out) => ipcWriter(COLUMNS, out, { 'pcp.host': 'h' })))
  expect(table.numRows).toBe(3)
  expect(table.schema.metadata.get('pcp.host')).toBe('h')
  const row = (i: number): unknown[] => KINDS.map((kind) => table.getChild(`a.${kind}[x y]`)!.get(i))
  expect(row(0)).toEqual([-5, 4_000_000_000, -(2n ** 62n), 2n ** 64n - 1n, 0.5, null, 'grün'])
  expect(row(1)).toEqual([null, 7, null, 3n, null, 1e300, null])
  expect(row(2)).toEqual(KINDS.map(() => null))
  expect([...table.getChild('timestamp')!.data[0]!.values]).toEqual(FIRST.times)
})
