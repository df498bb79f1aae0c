/** pcp-ts incident: writes part of an archive as an HTML file that shows it. docs/how-to/hand-an-incident-on.md */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Archive } from '../../../archive/archive.ts'
import { excerpt } from '../../../archive/excerpt.ts'
import { excerptName } from '../../../archive/excerpt-name.ts'
import { secondsBetween, toSeconds } from '../../../base/timestamp.ts'
import { isError, PcpError } from '../../../model/errors.ts'
import type { Pmid } from '../../../model/ids.ts'
import { PM_TYPE_DOUBLE } from '../../../model/types.ts'
import { archiveFiles } from '../../../sys/archive-files.ts'
import { replaceFile } from '../../../sys/replace-file.ts'
import { FOREVER } from '../../../time/arithmetic.ts'
import { ctime } from '../../../time/stamp.ts'
import { type Incident, incidentHtml, LONGEST_NOTE } from '../../../ui/incident/incident.ts'
import { OVERVIEW } from '../../../ui/view/overview.ts'
import type { SharedView } from '../../../ui/view/share.ts'
import { newId } from '../../../ui/view/view.ts'
import { HELP_ROW, type OptionTable } from '../../lib/options.ts'
import { ownBinDir } from '../../lib/own-program.ts'
import { type ParsedStandard, parseStandard, STANDARD } from '../../lib/standard.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool, ToolIo } from '../../lib/tool.ts'
import { orderedWindow } from '../../lib/window.ts'
import { archiveZone } from '../../lib/zone.ts'
import { sizeText } from '../status/text.ts'

const OPTIONS: OptionTable = {
  synopsis: '-a ARCHIVE -o FILE [options] [metric ...]',
  operands: 'metric',
  rows: [
    STANDARD.archive,
    STANDARD.start,
    STANDARD.finish,
    STANDARD.timezone,
    STANDARD.hostzone,
    { short: 'o', long: 'output', arg: 'FILE', help: 'write FILE, an HTML file' },
    { long: 'note', arg: 'TEXT', help: 'say what happened; shown above the charts' },
    { long: 'only', help: 'keep only the given metrics, with those below them in the name space' },
    HELP_ROW,
  ],
}

/** Most bytes of records, before compression: a browser has to hold them. */
const MOST_BYTES = 256 << 20
/** Most charts of metrics below names: there may be hundreds. */
const MOST_CHARTS = 24

export const tool: Tool = {
  name: 'pcp-ts-incident',
  summary: 'Write part of an archive as an HTML file that shows it',
  description: `
The file has the records of the time window and the charts of pmproxy's page. It opens in a browser without network, and can be dropped on the
page of another pmproxy; nothing in it is sent anywhere. Metrics given as arguments, or below such a name, get a chart each above the overview.

Without --only all metrics of the archive are kept, and of processes what was recorded: names of users and command lines too. The archive in
the file is one of PCP's, which the page saves as files.`,
  examples: [
    [
      "pcp-ts incident -a ARCHIVE -S '@03:00' -T '@03:30' -o slow.html --note 'Backup runs twice'",
      'Half an hour:',
    ],
  ],
  seeAlso: ['pmlogextract', 'pmproxy', 'pcp-ts-mcp'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const archive = parsed.standard.archives[0]
    if (archive === undefined) throw new PcpError('EINVAL', '-a ARCHIVE is missing')
    const file = last(parsed, 'o')
    if (file === undefined) throw new PcpError('EINVAL', '-o FILE is missing')
    const output = resolve(io.cwd, file)
    const note = last(parsed, 'note') ?? ''
    if (note.length > LONGEST_NOTE)
      throw new PcpError('EINVAL', `--note: at most ${LONGEST_NOTE} characters, not ${note.length}`)
    const opened = Archive.open(resolve(io.cwd, archive), archiveFiles())
    try {
      const content = await incidentOf(opened, parsed, note, io)
      const html = incidentHtml(template(), content.incident)
      write(output, html)
      io.stdout.write(`${output}: ${sizeText(Buffer.byteLength(html))}, ${content.about}\n`)
      return 0
    } finally {
      opened.close()
    }
  },
}

interface Content {
  readonly incident: Incident
  /** Host and times. */
  readonly about: string
}

async function incidentOf(
  archive: Archive,
  { given, operands, standard }: ParsedStandard,
  note: string,
  io: ToolIo,
): Promise<Content> {
  const { zone } = archiveZone(standard, archive.label, io)
  const end = archive.end()
  const { start: from, finish } = orderedWindow(
    standard,
    { start: archive.start, end: isError(end) ? FOREVER : end },
    zone,
    io,
  )
  const isOnly = given.some(({ name }) => name === 'only')
  if (isOnly && operands.length === 0) throw new PcpError('EINVAL', '--only: name the metrics to keep')
  const named = metricsBelow(archive, operands)
  const kept = isOnly ? new Set(named.values()) : undefined
  const files = await excerpt(archive, {
    from,
    to: finish,
    ...(kept === undefined ? {} : { wants: (id) => kept.has(id) }),
    pid: process.pid,
    maxBytes: MOST_BYTES,
  })
  const { hostname } = archive.label
  const base = excerptName(hostname, from.sec)
  const charts = chartedOf(archive, named, operands).map((metric) => ({
    id: newId(),
    title: '',
    style: 'plot',
    legend: true,
    plots: [{ metric }],
  }))
  const shown: SharedView = {
    view: { name: charts.length === 0 ? OVERVIEW.name : 'Incident', charts: [...charts, ...OVERVIEW.charts] },
    width: Math.max(1, secondsBetween(from, finish)),
    end: toSeconds(finish),
  }
  return {
    incident: {
      base,
      note,
      shown,
      files: [...files].map(([part, bytes]) => [
        `${base}.${part}.gz`,
        gzipSync(bytes, { level: 9 }).toString('base64'),
      ]),
    },
    about: `host ${hostname}, ${ctime(from.sec, zone)} to ${ctime(finish.sec, zone)}`,
  }
}

/** Returns the metrics at or below these names, in their order, then by name. PM_ERR_NAME for a name that is not in the archive. */
function metricsBelow({ metadata }: Archive, names: readonly string[]): ReadonlyMap<string, Pmid> {
  const found = new Map<string, Pmid>()
  for (const name of names) {
    const below: [string, Pmid][] = []
    metadata.names.walk(name, (leaf, id) => void below.push([leaf, id]))
    for (const [leaf, id] of below.sort(([a], [b]) => (a < b ? -1 : 1))) found.set(leaf, id)
  }
  return found
}

/** Returns those to draw: the named ones, and the first of those below a name whose values are numbers. */
function chartedOf(
  archive: Archive,
  found: ReadonlyMap<string, Pmid>,
  operands: readonly string[],
): readonly string[] {
  const isNumber = (id: Pmid): boolean => archive.metadata.descs.get(id)!.type <= PM_TYPE_DOUBLE
  let left = MOST_CHARTS
  const isDrawn = ([name, id]: readonly [string, Pmid]): boolean =>
    operands.includes(name) || (isNumber(id) && left-- > 0)
  return [...found].filter(isDrawn).map(([name]) => name)
}

function write(output: string, html: string): void {
  try {
    replaceFile(output, html)
  } catch (error) {
    throw PcpError.from(error)
  }
}

/** Returns the page without an incident, which the build makes. */
function template(): string {
  const path = join(dirname(ownBinDir()), 'share', 'web', 'incident.html')
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw PcpError.from(error, `Cannot read ${path}, which is part of the package; install pcp-ts again`)
  }
}

const last = ({ given }: ParsedStandard, name: string): string | undefined =>
  given.findLast((each) => each.name === name)?.value
