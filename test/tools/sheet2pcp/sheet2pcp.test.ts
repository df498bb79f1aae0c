import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import type { Timestamp } from '../../../src/base/timestamp.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import type { Value } from '../../../src/model/values.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { tool } from '../../../src/tools/sheet2pcp/index.ts'
import { parseMap } from '../../../src/tools/sheet2pcp/map.ts'
import { testIo } from '../run-tool.ts'

const MAP = `<?xml version="1.0"?>
<sheet heading="1" hostname="lab.example" timezone="+0100">
  <metric indom="PMI_DOMAIN.7" units="0,0,1,0,0,PM_COUNT_ONE" type="PM_TYPE_U64" sem="PM_SEM_COUNTER">line.parts</metric>
  <metric type="PM_TYPE_STRING">line.state</metric>
  <datetime></datetime> <data>line.state</data> <skip/>
  <data>line.parts[press &amp; co]</data> <data>line.parts[oven]</data>
</sheet>`
/** 2024-03-01 10:00 and 10:01, an hour east of UTC. */
const FIRST = Date.UTC(2024, 2, 1, 9) / 1000

let dir: string
let count = 0
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'sheet2pcp-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

interface Outcome {
  readonly status: number
  readonly stderr: string
  readonly stdout: string
  readonly base: string
}

async function convert(
  name: string,
  sheet: string | Uint8Array,
  map: string = MAP,
  options: readonly string[] = [],
): Promise<Outcome> {
  const base = join(dir, String(++count))
  const [infile, mapfile] = [`${base}-${name}`, `${base}.xml`]
  writeFileSync(infile, sheet)
  writeFileSync(mapfile, map)
  const io = testIo('sheet2pcp', [...options, infile, mapfile, base])
  const status = await tool.run(io)
  return { status, ...io.printed, base }
}

/** Returns the label, and records as time and values by metric and instance. */
function contents(base: string): { records: [Timestamp, Record<string, Value>][]; archive: Archive } {
  const archive = Archive.open(base, archiveFiles())
  const reader = new RecordReader(archive)
  const records: [Timestamp, Record<string, Value>][] = []
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const row: Record<string, Value> = {}
    for (const set of record.toResult().sets) {
      const desc = archive.metadata.descs.get(set.pmid)!
      const name = archive.metadata.names.namesOf(set.pmid)[0]!
      for (const { inst, value } of valuesOf(set, desc.type)) {
        const instance =
          inst < 0 ? '' : `[${archive.metadata.instances(desc.indom, { id: inst }, undefined).names[0]}]`
        row[name + instance] = value
      }
    }
    records.push([record.timestamp(), row])
  }
  archive.close()
  return { records, archive }
}

const EXPECTED: [Timestamp, Record<string, Value>][] = [
  [
    { sec: FIRST, nsec: 0 },
    { 'line.state': 'ok, so far', 'line.parts[press & co]': 10, 'line.parts[oven]': 20 },
  ],
  [
    { sec: FIRST + 60, nsec: 0 },
    { 'line.state': 'slow', 'line.parts[oven]': 28 },
  ],
]

const CSV = 'When,State,,Press,Oven\r\n1/3/2024 10:00:00,"ok, so far",x,10,20\r\n01-03-24 10:01,slow,,,28\r\n'

describe('a sheet becomes an archive', () => {
  test('from .csv', async () => {
    const { status, stderr, base } = await convert('d.csv', CSV)
    expect([status, stderr]).toEqual([0, ''])
    const { records, archive } = contents(base)
    expect(records).toEqual(EXPECTED)
    expect(archive.label).toMatchObject({ version: 2, hostname: 'lab.example', timezone: 'PCP-01:00' })
  })

  test('from .xlsx: shared and inline texts, serial dates, gaps', async () => {
    const serial = (minutes: number): string => String(45352 + 10 / 24 + minutes / 1440)
    const sheet = `<worksheet><sheetData>
      <row r="1"><c r="A1" t="s"><v>0</v></c></row>
      <row r="2"><c r="A2"><v>${serial(0)}</v></c><c r="B2" t="s"><v>1</v></c><c r="D2"><v>10</v></c><c r="E2"><v>2E1</v></c></row>
      <row r="4"><c r="A4"><v>${serial(1)}</v></c><c r="B4" t="inlineStr"><is><t>slow</t></is></c><c r="E4"><v>28</v></c></row>
      </sheetData></worksheet>`
    const strings =
      '<sst><si><t>When</t></si><si><r><t>ok, </t></r><r><t xml:space="preserve">so far</t></r></si></sst>'
    const zip = zipSync({
      'xl/workbook.xml': strToU8('<workbook/>'),
      'xl/worksheets/sheet2.xml': strToU8('<worksheet/>'),
      'xl/worksheets/sheet1.xml': strToU8(sheet),
      'xl/sharedStrings.xml': strToU8(strings),
    })
    const { status, stderr, base } = await convert('d.xlsx', zip)
    expect([status, stderr]).toEqual([0, ''])
    expect(contents(base).records).toEqual(EXPECTED)
  })

  test('from .ods: typed and repeated cells', async () => {
    const cell = (type: string, value: string, text: string): string =>
      `<table:table-cell office:value-type="${type}" office:${value}><text:p>${text}</text:p></table:table-cell>`
    const content = `<office:document-content><office:body><office:spreadsheet><table:table table:name="one">
      <table:table-row><table:table-cell><text:p>When</text:p></table:table-cell><table:table-cell table:number-columns-repeated="4"><text:p>x</text:p></table:table-cell></table:table-row>
      <table:table-row>${cell('date', 'date-value="2024-03-01T10:00:00"', '1 March')}
        <table:table-cell><text:p>ok,<text:s/>so far</text:p></table:table-cell><table:table-cell/>
        ${cell('float', 'value="10"', '10,0')}${cell('float', 'value="20"', '20,0')}</table:table-row>
      <table:table-row>${cell('date', 'date-value="2024-03-01T10:01:00"', '1 March')}
        <table:table-cell><text:p>slow</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"/>
        ${cell('float', 'value="28"', '28,0')}</table:table-row>
      <table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="1024"/></table:table-row>
      </table:table><table:table table:name="two"><table:table-row><table:table-cell><text:p>no</text:p></table:table-cell></table:table-row></table:table>
      </office:spreadsheet></office:body></office:document-content>`
    const { status, stderr, base } = await convert('d.ods', zipSync({ 'content.xml': strToU8(content) }))
    expect([status, stderr]).toEqual([0, ''])
    expect(contents(base).records).toEqual(EXPECTED)
  })

  test('with options as defaults for the map', async () => {
    const map = '<sheet><metric>a.b</metric><datetime/><data>a.b</data></sheet>'
    const { base } = await convert('d.csv', '31/12/99 23:59:59,1.5\n', map, [
      '-h',
      'h',
      '-Z',
      '-0330',
      '-V',
      '3',
    ])
    const { records, archive } = contents(base)
    expect(records).toEqual([[{ sec: Date.UTC(2000, 0, 1, 3, 29, 59) / 1000, nsec: 0 }, { 'a.b': 1.5 }]])
    expect(archive.label).toMatchObject({ version: 3, hostname: 'h', timezone: 'PCP+03:30' })
  })
})

describe('invalid input', () => {
  const row = (text: string): string => `h\n01/03/2024 10:00,ok,,1,2\n${text}\n`

  test.each([
    [
      'an invalid number',
      '01/03/2024 10:01,ok,,1,2x',
      2,
      'pmiPutValueHandle: failed at cell[E3]: Impossible value or scale conversion\n',
    ],
    [
      'a time that goes back',
      '01/03/2024 09:59,ok,,1,2',
      2,
      'pmiWrite: at row[ 3] (01/03/2024 09:59): Illegal result timestamp\n',
    ],
    ['an invalid time', 'soon,ok,,1,2', 1, 'sheet2pcp: dodate: bad datetime format: "soon"\n'],
    [
      'a day that does not exist',
      '31/02/2024 10:00,ok,,1,2',
      1,
      'sheet2pcp: Failed to verify time formatted as "31/02/2024 10:00"\n',
    ],
  ])('%s ends the conversion after the records before it', async (_, text, expected, message) => {
    const { status, stderr, base } = await convert('d.csv', row(text))
    expect(status).toBe(expected)
    expect(stderr.endsWith(message)).toBe(true)
    expect(contents(base).records.length).toBe(1)
  })

  test('an existing archive is kept', async () => {
    const { base } = await convert('d.csv', CSV)
    const io = testIo('sheet2pcp', [`${base}-d.csv`, `${base}.xml`, base])
    expect(await tool.run(io)).toBe(17)
    expect(io.printed.stderr).toContain(`"${base}.index" already exists, not over-written\n`)
    expect(contents(base).records.length).toBe(2)
  })

  test('errors in the map are listed together', async () => {
    const map = `<sheet heading="x" colour="red"><metric type="PM_TYPE_ODD" pmid="1.2">a</metric>
      <data>b</data><data>a[</data><what/></sheet>`
    const { status, stderr } = await convert('d.csv', CSV, map)
    expect(status).toBe(1)
    expect(stderr.match(/Mapfile Error: /g)?.length).toBe(8)
    expect(stderr.endsWith('Abandoned after 8 mapfile error(s)\n')).toBe(true)
  })

  test('refuses invalid XML and unknown formats', async () => {
    expect((await convert('d.csv', CSV, '<sheet><metric>')).stderr).toContain('<metric> is not closed')
    expect((await convert('d.xlsx', 'text')).stderr).toContain('Failed to open spreadsheet "')
    expect((await convert('d.xls', 'text')).stderr).toContain('No clue how to deduce format of spreadsheet')
  })

  test('a row with too many columns is still used', async () => {
    const { status, stderr, base } = await convert('d.csv', `${CSV}01/03/2024 10:02,ok,,1,2,3\n`)
    expect([status, contents(base).records.length]).toEqual([0, 3])
    expect(stderr).toBe('sheet2pcp: Warning: row 4 has 6 columns, the map has 5\n')
  })
})

test('the map in the man page is valid', () => {
  const [map] = /<\?xml[\s\S]*<\/sheet>/.exec(tool.description!)!
  const { problems, columns, metrics, datefmt } = parseMap(map)
  expect(problems).toEqual([])
  expect(columns.map(({ kind }) => kind)).toEqual(['datetime', 'data', 'skip', 'data'])
  expect([metrics.map(({ name }) => name), datefmt]).toEqual([['weather.temperature'], 'YMD'])
})
