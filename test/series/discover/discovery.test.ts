import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ArchiveWriter } from '../../../src/archive/write/writer.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { indom, PM_INDOM_NULL, pmid } from '../../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_U32 } from '../../../src/model/types.ts'
import { makeSet, makeSingular } from '../../../src/model/value-writer.ts'
import {
  Discovery,
  type DiscoveryOptions,
  type SeriesLoader,
} from '../../../src/series/discover/discovery.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'

const LOAD = pmid(60, 2, 0)
const MANY = pmid(60, 2, 5)
const INDOM = indom(60, 2)
const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
})

/** A key server that keeps acknowledged records. */
class FakeServer {
  isUp = true
  gone = new PcpError('ECONNRESET', 'Key server k: gone')
  isEmptied = false
  readonly kept: string[] = []
  #sent: string[] = []

  readonly loader: SeriesLoader = {
    source: ({ path, host, metadata }) => ({
      addMetadata: async () => {
        this.#sent.push(`metadata ${path.split('/').at(-1)} ${host} ${metadata.traverse('').join()}`)
      },
      metadataChanged: () => {
        this.#sent.push(`changed ${metadata.traverse('').join()}`)
      },
      add: async (record) => {
        const names = metadata.snapshotAt(INDOM, { sec: 0, nsec: 0 })
        const inst = record.find(MANY) < 0 ? [] : [...record.toSet(record.find(MANY)).inst]
        const found = inst.map((id) => names!.name(names!.ids.indexOf(id)))
        this.#sent.push(['record', record.sec, ...found].join(' '))
      },
    }),
    flush: async () => {
      if (!this.isUp) throw this.gone
      this.kept.push(...this.#sent.splice(0))
    },
  }

  connect = async () => {
    this.#sent = []
    if (!this.isUp) throw new PcpError('ECONNREFUSED', 'Key server k: Connection refused')
    return {
      loader: this.loader,
      name: 'k',
      keepsData: async () => {
        const kept = !this.isEmptied
        this.isEmptied = false
        return kept
      },
      close: () => {},
    }
  }

  taken(): string[] {
    return this.kept.splice(0)
  }
}

function setUp(options: Partial<DiscoveryOptions> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'discover-'))
  const server = new FakeServer()
  const notices: string[] = []
  const clock = { ms: 1_000_000 }
  const discovery = new Discovery({
    directories: [root],
    connect: server.connect,
    keptSeconds: 100,
    onNotice: (_, text) => notices.push(text.replaceAll(root, 'ROOT')),
    clock: () => clock.ms,
    retryMs: [0],
    watcher: { watch: () => () => {} },
    ...options,
  })
  cleanUps.push(
    () => rmSync(root, { recursive: true, force: true }),
    () => discovery.close(),
  )
  const archive = (name: string, pid = 7): ArchiveWriter => {
    const writer = ArchiveWriter.create(archiveOutput(join(root, name)), {
      hostname: 'h',
      timezone: 'UTC',
      pid,
    })
    cleanUps.push(() => writer.close())
    writer.desc({ pmid: LOAD, type: PM_TYPE_U32, indom: PM_INDOM_NULL, sem: PM_SEM_INSTANT, units: 0 }, [
      'a.load',
    ])
    return writer
  }
  const turn = async (): Promise<string[]> => {
    discovery.search()
    await discovery.pass()
    return server.taken()
  }
  return { root, server, notices, clock, discovery, archive, turn }
}

const add = (writer: ArchiveWriter, sec: number): void =>
  writer.result({ sec, nsec: 0 }, [makeSingular(LOAD, PM_TYPE_U32, sec)])

test('an archive is loaded from its end, with its metadata; a later one from its start', async () => {
  const { archive, turn, discovery } = setUp()
  const old = archive('old')
  add(old, 990)
  expect(await turn()).toEqual(['metadata old h a.load'])
  add(old, 991)
  const fresh = archive('fresh')
  add(fresh, 1001)
  expect(await turn()).toEqual(['metadata fresh h ', 'changed a.load', 'record 1001', 'record 991'])
  expect(await turn()).toEqual([])
  expect(discovery.statistics).toMatchObject({ monitored: 2, records: 2, descs: 1, sets: 2 })
})

test('metadata that appears later precedes the records that need it', async () => {
  const { archive, turn } = setUp()
  const writer = archive('a')
  add(writer, 990)
  await turn()
  writer.desc({ pmid: MANY, type: PM_TYPE_U32, indom: INDOM, sem: PM_SEM_INSTANT, units: 0 }, ['a.many'])
  writer.instances({ sec: 991, nsec: 0 }, INDOM, [1], ['one'])
  writer.result({ sec: 991, nsec: 0 }, [makeSet(MANY, PM_TYPE_U32, [1], [5])])
  writer.instances({ sec: 992, nsec: 0 }, INDOM, [1, 2], ['one', 'two'])
  writer.result({ sec: 992, nsec: 0 }, [makeSet(MANY, PM_TYPE_U32, [1, 2], [5, 6])])
  const found = await turn()
  expect(found).toContain('changed a.load,a.many')
  expect(found.filter((line) => line.startsWith('record'))).toEqual(['record 991 one', 'record 992 one two'])
})

test('no record is lost while the key server is away, from the start or later', async () => {
  const { archive, turn, server, notices } = setUp()
  server.isUp = false
  const writer = archive('a')
  add(writer, 990)
  expect(await turn()).toEqual([])
  add(writer, 991)
  expect(await turn()).toEqual([])
  server.isUp = true
  expect(await turn()).toEqual(['metadata a h a.load', 'record 991'])
  server.isUp = false
  add(writer, 992)
  expect(await turn()).toEqual([])
  add(writer, 993)
  expect(await turn()).toEqual([])
  server.isUp = true
  expect(await turn()).toEqual(['metadata a h a.load', 'record 992', 'record 993'])
  expect(notices).toEqual([
    'Key server k: Connection refused; records are loaded when it is back',
    'Archives are loaded into key server k',
    'Key server k: gone; records are loaded when it is back',
    'Archives are loaded into key server k',
  ])
})

test('no record is lost while the key server is full', async () => {
  const { archive, turn, server, notices } = setUp()
  const writer = archive('a')
  add(writer, 989)
  await turn()
  server.gone = new PcpError('ENOSPC', 'Key server k is full: raise its maxmemory')
  server.isUp = false
  add(writer, 990)
  await turn()
  add(writer, 991)
  await turn()
  server.isUp = true
  expect(await turn()).toEqual(['metadata a h a.load', 'record 990', 'record 991'])
  expect(notices.filter((each) => each.includes('full'))).toEqual([
    'Key server k is full: raise its maxmemory; records are loaded when it is back',
  ])
})

test('records that the key server would no longer keep are not loaded after an outage', async () => {
  const { archive, turn, server, clock, discovery } = setUp()
  server.isUp = false
  const writer = archive('a')
  add(writer, 1000)
  await turn()
  add(writer, 1050)
  add(writer, 1150)
  clock.ms = 1_160_000
  server.isUp = true
  expect(await turn()).toEqual(['metadata a h ', 'changed a.load', 'record 1150'])
  expect(discovery.statistics.skipped).toBe(2)
})

test('a key server that lost its data gets the metadata again', async () => {
  const { archive, turn, server, notices } = setUp()
  const writer = archive('a')
  add(writer, 990)
  await turn()
  server.isEmptied = true
  add(writer, 991)
  expect(await turn()).toEqual(['metadata a h a.load', 'record 991'])
  expect(notices).toContain('Key server k lost its data: metadata is loaded again')
})

test('a directory with a lock file waits', async () => {
  const { root, archive, turn } = setUp()
  const writer = archive('a')
  add(writer, 990)
  await turn()
  writeFileSync(join(root, 'lock'), '')
  add(writer, 991)
  expect(await turn()).toEqual([])
  unlinkSync(join(root, 'lock'))
  expect(await turn()).toEqual(['record 991'])
})

test('archives that end, are replaced or damaged do not stop the others', async () => {
  const { root, archive, turn, discovery, notices } = setUp()
  const gone = archive('gone')
  add(gone, 990)
  const other = archive('other')
  add(other, 990)
  const bad = archive('bad')
  add(bad, 990)
  await turn()
  for (const part of ['meta', 'index', '0']) unlinkSync(join(root, `gone.${part}`))
  for (const part of ['meta', 'index', '0']) unlinkSync(join(root, `other.${part}`))
  add(archive('other', 8), 1005)
  bad.metadata(new Uint8Array(new Int32Array([0x10000000, 0x63000000, 0, 0x10000000]).buffer))
  add(bad, 991)
  const found = await turn()
  expect(found.filter((line) => line.startsWith('record'))).toEqual([])
  expect((await turn()).filter((line) => line.startsWith('record'))).toEqual(['record 1005'])
  expect(discovery.statistics).toMatchObject({ monitored: 2, purged: 1, errors: 2 })
  expect(notices.join('\n')).toMatch(/bad\.meta after .* unknown type 99; loading of the archive ends/)
})

test('a long archive is loaded in turns', async () => {
  const { archive, turn } = setUp()
  const writer = archive('a')
  for (let i = 0; i < 1500; i++) writer.result({ sec: 1001, nsec: i }, [makeSingular(LOAD, PM_TYPE_U32, i)])
  const first = await turn()
  const second = await turn()
  expect(first.length).toBeGreaterThan(900)
  expect(second.length).toBeGreaterThan(400)
  expect([...first, ...second].filter((line) => line.startsWith('record'))).toHaveLength(1500)
})
