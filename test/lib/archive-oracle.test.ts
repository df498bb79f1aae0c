import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { type OracleRecord, problemsOf, readArchives, writeArchive } from './archive-oracle.ts'
import { MemoryDisk } from './memory-disk.ts'
import { filesOf, readFile, writeFile } from './memory-files.ts'

function twoArchives(): { disk: MemoryDisk; records: OracleRecord[] } {
  const disk = new MemoryDisk()
  disk.mkdir('/a')
  const first = { startSec: 1000, count: 25, firstValue: 100, maxVolumeBytes: 1500 }
  const second = { startSec: 2000, count: 3, firstValue: 200 }
  const records = [
    ...writeArchive(archiveOutput('/a/20261120', { disk }), first),
    ...writeArchive(archiveOutput('/a/20261121', { disk }), second),
  ]
  return { disk, records }
}

function problemsIn(disk: MemoryDisk, records: readonly OracleRecord[]): string[] {
  const reading = readArchives('/a', filesOf(disk))
  return [...problemsOf(records, reading), ...reading.strays.map((name) => `stray ${name}`)]
}

function copy(disk: MemoryDisk, from: string, to: string): void {
  for (const part of ['meta', 'index', '0'])
    writeFile(disk, `/a/${to}.${part}`, readFile(disk, `/a/${from}.${part}`))
}

test('finds all records of intact archives, compressed ones included', () => {
  const { disk, records } = twoArchives()
  expect(disk.list('/a').length).toBeGreaterThan(7)
  expect(problemsIn(disk, records)).toEqual([])
  for (const part of ['meta', '0']) {
    writeFile(disk, `/a/20261121.${part}.gz`, gzipSync(readFile(disk, `/a/20261121.${part}`)))
    disk.unlink(`/a/20261121.${part}`)
  }
  expect(problemsIn(disk, records)).toEqual([])
})

test('reports lost archives and volumes, and stray files', () => {
  const { disk, records } = twoArchives()
  disk.unlink('/a/20261120.2')
  disk.unlink('/a/20261121.meta')
  disk.mkdir('/a/.half')
  const problems = problemsIn(disk, records).join('\n')
  expect(problems).toMatch(/records lost: /)
  expect(problems).toContain('stray .half\nstray 20261121.0\nstray 20261121.index')
})

test('reports duplicate, unknown and changed records', () => {
  const { disk, records } = twoArchives()
  copy(disk, '20261121', 'copy')
  const changed = records.slice(1).map((record, i) => (i === 0 ? { ...record, sec: 5 } : record))
  expect(problemsIn(disk, changed)).toEqual([
    '3 records more than once, in 20261121 and copy: 200, 201, 202',
    '1 records with another time: 101',
    '1 records never recorded: 100',
  ])
})

test('reports damaged metadata', () => {
  const { disk, records } = twoArchives()
  writeFile(disk, '/a/20261120.meta', readFile(disk, '/a/20261121.meta'))
  expect(problemsIn(disk, records)[0]).toMatch(/record 100 is of instance/)
})

test('reports labels that disagree', () => {
  const { disk, records } = twoArchives()
  const other = { startSec: 2000, count: 1, firstValue: 1, hostname: 'elsewhere' }
  writeArchive(archiveOutput('/other', { disk }), other)
  disk.rename('/other.index', '/a/20261121.index')
  expect(problemsIn(disk, records).join()).toContain('20261121: labels differ')
})
