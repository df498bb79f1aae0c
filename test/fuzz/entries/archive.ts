/** Whole archives: metadata, index and volumes, read in both directions, interpolated and scanned. */
import { Archive } from '../../../src/archive/archive.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import { scan } from '../../../src/archive/scan.ts'
import { ArchiveSource } from '../../../src/archive/source.ts'
import { isError } from '../../../src/model/errors.ts'
import { memoryFiles } from '../../archive/build.ts'
import { sampleArchive } from '../../archive/sample-archive.ts'
import { type FuzzEntry, joinParts, splitParts } from '../engine/entry.ts'

const NAMES = ['a.meta', 'a.index', 'a.0', 'a.1']
const MOST_METRICS = 4

/** Entry of src/archive. */
export const archive: FuzzEntry = {
  seeds: () =>
    ([2, 3] as const).map((version) => {
      const files = sampleArchive(version, 6)
      return joinParts(NAMES.map((name) => files[name]!))
    }),
  maxLength: 8192,
  run(input) {
    const parts = splitParts(input, NAMES.length)
    const files = Object.fromEntries(NAMES.map((name, i) => [name, parts[i]!]))
    const opened = Archive.open('a', memoryFiles(files))
    const { metadata, start } = opened
    metadata.names.traverse()
    for (const id of metadata.indoms) metadata.instances(id, undefined, undefined)
    metadata.labels({ level: 1, id: 0xffffffff }, undefined)
    for (const kind of ['metric', 'indom'] as const)
      for (const id of metadata.textIds(kind, 'oneline')) metadata.text({ kind, id, level: 'oneline' })
    const end = opened.end()
    const reader = new RecordReader(opened)
    for (let record = reader.next(); record !== undefined; record = reader.next()) record.toResult()
    for (let record = reader.previous(); record !== undefined; record = reader.previous()) record.toResult()
    for (const direction of ['backward', 'forward'] as const) reader.seek(start, direction)
    const ids = [...metadata.descs.keys()].slice(0, MOST_METRICS)
    for (const step of [0.7, -0.7]) {
      const source = new ArchiveSource(opened)
      source.setMode('interpolate', step > 0 || isError(end) ? start : end, step)
      for (let i = 0; i < 6; i++) source.fetchNow(ids)
    }
    for (const id of ids) scan(opened, [id])
  },
}
