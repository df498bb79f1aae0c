/**
 * sheet2pcp: imports a spreadsheet into an archive. sheet2pcp(1)
 *
 * Unlike the reference, it needs no other programs, exits with 1 for errors in the map, reads days and months with one digit, treats an
 * empty cell as no value, and does not read binary .xls files.
 */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import { ArchiveImport } from '../../archive/import/archive-import.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { indomStr, PM_ID_NULL, PM_INDOM_NULL, pmidStr } from '../../model/ids.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_STRING, semStr, typeStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import type { Value } from '../../model/values.ts'
import { archiveAccess } from '../../sys/archive-access.ts'
import { archiveOutput } from '../../sys/archive-output.ts'
import { loadConfig } from '../../sys/config.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { parseCsv } from './csv.ts'
import { type MapMetric, parseMap, type SheetMap } from './map.ts'
import type { Cell, Rows } from './sheet-files.ts'
import { parseOffset, parseTime, zonedTime, zoneName } from './times.ts'

const OPTIONS: OptionTable = {
  synopsis: '[-h host] [-V version] [-Z timezone] infile mapfile outfile',
  rows: [
    { heading: 'Options' },
    { short: 'D', long: 'debug', arg: 'NAMES' },
    { short: 'h', long: 'host', arg: 'HOST', help: 'host in the label, if not in the map' },
    { short: 'V', long: 'archiveversion', arg: 'N', help: 'version of the archive, 2 or 3' },
    { short: 'Z', long: 'timezone', arg: 'ZONE', help: '+HHMM or -HHMM from UTC, if not in the map' },
    { long: 'version', help: VERSION_ROW.help! },
    HELP_ROW,
  ],
}

/** Exit status for an error in a row, as scripts expect. */
const STATUS_BAD_ROW = 2
const STATUS_EXISTS = 17

export const tool: Tool = {
  name: 'sheet2pcp',
  summary: 'Import a spreadsheet into an archive',
  description: `
Each row of the first sheet of infile, a .csv, .xlsx, .ods or .sxc file, becomes a record of the archive outfile. mapfile is an XML
file that defines the metrics, and then the content of each column, from left to right:

    <?xml version="1.0" encoding="UTF-8"?>
    <sheet heading="1" hostname="roof.example" timezone="+0100" datefmt="YMD">
      <metric pmid="PMI_DOMAIN.0.1" indom="PMI_DOMAIN.1" units="0,0,0,0,0,0"
              type="PM_TYPE_FLOAT" sem="PM_SEM_INSTANT">weather.temperature</metric>
      <datetime></datetime>
      <data>weather.temperature[north]</data>
      <skip></skip>
      <data>weather.temperature[south]</data>
    </sheet>

heading is the number of rows to skip at the top, datefmt the order of day, month and year: DMY, MDY or YMD. All attributes of sheet
and metric are optional: by default a metric has type PM_TYPE_FLOAT, semantics PM_SEM_INSTANT, no units, no instances, and a PMID
chosen automatically. units are the dimensions of space, time and count and their three scales, as numbers or constants such as
PM_SPACE_KBYTE. One column is datetime; data names one of the metrics, with an instance if it has an instance domain.

A comment <!-- pmiDump --> in the map prints the map.`,
  options: OPTIONS,
  exitStatus: [
    [2, 'a row is invalid; the archive has the rows before it'],
    [17, 'the archive already exists'],
  ],
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const last = (name: string): string | undefined =>
      parsed.given.findLast((option) => option.name === name)?.value
    const [infile, mapfile, outfile, ...more] = parsed.operands
    if (infile === undefined || mapfile === undefined || outfile === undefined || more.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const zone = last('Z')
    const version = last('V') ?? '2'
    const offset = zone === undefined ? 0 : parseOffset(zone)
    if (offset === undefined) return fail('Illegal -Z value, must be +NNNN or -NNNN', io)
    if (version !== '2' && version !== '3') return fail('Illegal -V value, must be 2 or 3', io)
    const map = readMap(mapfile, io)
    if (map === undefined) return 1
    const rows = await readSheet(infile, io)
    if (rows === undefined) return 1
    const at = map.offset ?? offset
    const path = resolve(io.cwd, outfile)
    const archive = new ArchiveImport(
      archiveOutput(path, archiveAccess(dirname(path), loadConfig(io.env).variables)),
      {
        version: version === '2' ? 2 : 3,
        hostname: map.hostname ?? last('h') ?? hostname(),
        timezone: zoneName(at),
        pid: process.pid,
      },
    )
    try {
      return convert(rows, map, at, archive, outfile, io)
    } finally {
      archive.close()
    }
  },
}

function fail(message: string, io: ToolIo): number {
  io.stderr.write(`${io.progname}: ${message}\n`)
  return 1
}

function readMap(path: string, io: ToolIo): SheetMap | undefined {
  let text: string
  try {
    text = decodeText(readFileSync(resolve(io.cwd, path)))
  } catch (error) {
    fail(`Failed to open mapfile "${path}": ${PcpError.from(error).text}`, io)
    return undefined
  }
  const map = parseMap(text)
  for (const problem of map.problems) io.stderr.write(`Mapfile Error: ${problem}\n`)
  if (map.problems.length === 0) return map
  io.stderr.write(`Abandoned after ${map.problems.length} mapfile error(s)\n`)
  return undefined
}

async function readSheet(path: string, io: ToolIo): Promise<Rows | undefined> {
  const format = /\.(csv|xlsx|ods|sxc)$/i.exec(path)?.[1]?.toLowerCase()
  if (format === undefined) {
    const hint = /\.xls$/i.test(path) ? ': save it as .xlsx' : ''
    fail(`No clue how to deduce format of spreadsheet ${path}${hint}`, io)
    return undefined
  }
  try {
    const bytes = readFileSync(resolve(io.cwd, path))
    if (format === 'csv') return parseCsv(decodeText(bytes)).map((row) => row.map((text) => ({ text })))
    const { readOpenDocument, readXlsx } = await import('./sheet-files.ts') // with the decompression library
    return format === 'xlsx' ? readXlsx(bytes) : readOpenDocument(bytes)
  } catch (error) {
    fail(`Failed to open spreadsheet "${path}": ${PcpError.from(error).message}`, io)
    return undefined
  }
}

/** Reports an invalid row. */
function badRow(message: string, io: ToolIo, status: number = STATUS_BAD_ROW): number {
  io.stderr.write(`${message}\n`)
  return status
}

function convert(
  rows: Rows,
  map: SheetMap,
  offset: number,
  archive: ArchiveImport,
  outfile: string,
  io: ToolIo,
): number {
  try {
    describe(map, archive)
  } catch (error) {
    return fail(PcpError.from(error).message, io)
  }
  if (map.isShown) io.stdout.write(shown(map))
  for (const [r, row] of rows.entries()) {
    if (r < map.heading || row.every(({ text }) => text === '')) continue
    if (row.length !== map.columns.length)
      io.stderr.write(
        `${io.progname}: Warning: row ${r + 1} has ${row.length} columns, the map has ${map.columns.length}\n`,
      )
    const status = convertRow(row, r, map, offset, archive, outfile, io)
    if (status !== 0) return status
  }
  return 0
}

function convertRow(
  row: readonly Cell[],
  r: number,
  { columns, datefmt }: SheetMap,
  offset: number,
  archive: ArchiveImport,
  outfile: string,
  io: ToolIo,
): number {
  const cell = row[columns.findIndex(({ kind }) => kind === 'datetime')] ?? { text: '' }
  try {
    const time =
      cell.date === undefined
        ? parseTime(cell.text, datefmt, offset)
        : zonedTime(cell.date, cell.text, offset)
    const last = archive.lastTime
    for (const [c, column] of columns.entries()) {
      const { text = '' } = row[c] ?? {}
      if (column.kind !== 'data' || text.trim() === '') continue
      const value = cellValue(text, column.metric)
      if (value === undefined) {
        const place = `${columnName(c)}${r + 1}`
        return badRow(`pmiPutValueHandle: failed at cell[${place}]: Impossible value or scale conversion`, io)
      }
      archive.put(column.metric.name, value, column.instance)
    }
    if (last !== undefined && (time.sec - last.sec || time.nsec - last.nsec) < 0)
      return badRow(
        `Fatal Error: timestamp ${time.sec} not greater than previous valid timestamp ${last.sec}\n` +
          `pmiWrite: at row[${String(r + 1).padStart(2)}] (${cell.text}): Illegal result timestamp`,
        io,
      )
    archive.write(time)
    return 0
  } catch (error) {
    const problem = PcpError.from(error)
    if (problem.code === 'PM_ERR_GENERIC') return fail(problem.message, io)
    if (problem.code !== 'EEXIST' || archive.lastTime !== undefined)
      return badRow(`row ${r + 1}: ${problem.message}`, io)
    io.stderr.write(`"${outfile}.index" already exists, not over-written\n`)
    return badRow(
      `pmiWrite: at row[${String(r + 1).padStart(2)}] (${cell.text}): ${problem.text}`,
      io,
      STATUS_EXISTS,
    )
  }
}

/** Returns a column's name in spreadsheets: A to Z, AA... */
function columnName(c: number): string {
  return (c >= 26 ? columnName(Math.floor(c / 26) - 1) : '') + String.fromCharCode(65 + (c % 26))
}

function describe({ metrics, columns }: SheetMap, archive: ArchiveImport): void {
  for (const { name, pmid, indom, units, type, sem } of metrics)
    archive.addMetric(name, {
      ...(pmid === PM_ID_NULL ? {} : { pmid }),
      ...(indom === PM_INDOM_NULL ? {} : { indom }),
      units,
      type,
      sem,
    })
  // Numbered in order of appearance, even if a row has no value.
  const seen = new Set<string>()
  for (const column of columns) {
    if (column.kind !== 'data' || column.instance === undefined) continue
    const { indom } = column.metric
    const key = `${indom} ${column.instance}`
    if (!seen.has(key)) archive.addInstance(indom, column.instance)
    seen.add(key)
  }
}

/** Parses a cell's value; undefined if its text does not match the metric's type. */
function cellValue(text: string, { type }: MapMetric): Value | undefined {
  if (type === PM_TYPE_STRING) return text
  const number = text.trim()
  if (type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE) {
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(number) ? Number(number) : undefined
  }
  // Sheets also store whole numbers as 10.0 or 1e3.
  if (/^[-+]?\d+$/.test(number)) return BigInt(number)
  return /^[-+]?\d+\.0*$|^[-+]?\d+(\.\d+)?e[-+]?\d+$/i.test(number) && Number.isSafeInteger(Number(number))
    ? Number(number)
    : undefined
}

function shown({ metrics, columns }: SheetMap): string {
  const lines = metrics.map(
    ({ name, pmid, indom, type, sem, units }) =>
      `metric ${name}: ${pmid === PM_ID_NULL ? 'next PMID' : pmidStr(pmid)} ${indomStr(indom)} ` +
      `${typeStr(type)} ${semStr(sem)} ${unitsStr(units) || 'no units'}\n`,
  )
  const cells = columns.map((column, c) => {
    if (column.kind !== 'data') return `column ${columnName(c)}: ${column.kind}\n`
    const instance = column.instance === undefined ? '' : `[${column.instance}]`
    return `column ${columnName(c)}: ${column.metric.name}${instance}\n`
  })
  return [...lines, ...cells].join('')
}
