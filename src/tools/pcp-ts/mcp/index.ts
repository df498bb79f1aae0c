/** pcp-ts mcp: answers questions of assistants about metrics. docs/how-to/assistants.md */
import { PcpError } from '../../../model/errors.ts'
import { instanceDirs } from '../../../sys/config.ts'
import { type InstanceRecord, instancesIn } from '../../../sys/instances.ts'
import { isZone } from '../../../ui/time/format.ts'
import { HELP_ROW, type OptionTable, type ParsedOptions, parseOptions } from '../../lib/options.ts'
import { archiveDirectories, recordedHere } from '../../lib/series-archives.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool, ToolIo } from '../../lib/tool.ts'
import { Moments } from './moments.ts'
import { PageLinks, type PageOf } from './page-links.ts'
import { serve } from './server.ts'
import { givenArchive, type NamedSource, Sources } from './sources.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { short: 'a', long: 'archive', arg: 'ARCHIVE', help: 'an archive to read; may be given several times' },
    { short: 'h', long: 'host', arg: 'HOST', help: 'a host to read; may be given several times' },
    { long: 'directory', arg: 'DIR', help: 'the archives below DIR; may be given several times' },
    {
      short: 'Z',
      long: 'timezone',
      arg: 'ZONE',
      help: 'the time zone of times (default: that of this process)',
    },
    HELP_ROW,
  ],
}

export const tool: Tool = {
  name: 'pcp-ts-mcp',
  summary: 'Answer questions of assistants about metrics',
  description: `
Serves the Model Context Protocol on standard input and output, for assistants that find causes of performance problems: which metrics there
are, their values, what changed between two windows, and the processes of an instant. Answers are short, say where a chart shows them, and
mark text that monitored systems reported. Everything is read only, with the rights of the user who starts it.

Without options it reads what pcp-ts start and loggers of this host record, and this host's collector.`,
  examples: [
    ['claude mcp add pcp -- pcp-ts mcp', 'Add it to an assistant that starts it by command:'],
    ['pcp-ts mcp --directory /srv/archives', 'Read the archives of a fleet:'],
  ],
  seeAlso: ['pcp-ts-start', 'pmsearch', 'pmseries'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const zone = valuesOf(parsed, 'Z').at(-1) ?? ''
    if (zone !== '' && !isZone(zone)) throw new PcpError('EINVAL', `-Z ${zone}: there is no such time zone`)
    const instance = instanceOf(io)
    const page = pageOf(instance)
    const sources = new Sources(io, ...wanted(parsed, instance?.archiveDir, io))
    try {
      await serve(io, { sources, moments: new Moments(zone, io.now), links: new PageLinks(page) })
    } finally {
      await sources.close()
    }
    return 0
  },
}

/** Returns the given sources, or those of this host, and the directories whose archives are found. */
function wanted(
  parsed: ParsedOptions,
  recordedDir: string | undefined,
  io: ToolIo,
): [readonly NamedSource[], readonly string[]] {
  const archives = valuesOf(parsed, 'a').map((name) => givenArchive(name, io.cwd))
  const hosts = valuesOf(parsed, 'h').map(hostSource)
  const hasDirectory = parsed.given.some(({ name }) => name === 'directory')
  if (archives.length + hosts.length > 0)
    return [[...archives, ...hosts], hasDirectory ? archiveDirectories(parsed, io) : []]
  if (hasDirectory) return [[], archiveDirectories(parsed, io)]
  const recorded = recordedDir === undefined ? [] : [givenArchive(recordedDir, io.cwd)]
  return [[...recorded, hostSource('local:')], recordedHere(io)]
}

const hostSource = (name: string): NamedSource => ({ id: `host:${name}`, kind: 'host', name })

const valuesOf = ({ given }: ParsedOptions, letter: string): readonly string[] =>
  given.flatMap(({ name, value }) => (name === letter ? [value] : []))

/** Returns the running instance that this user's commands use: the first that records, else the first. */
function instanceOf(io: ToolIo): InstanceRecord | undefined {
  const records = instancesIn(instanceDirs(io.env)).map(({ record }) => record)
  return records.find(({ archiveDir }) => archiveDir !== undefined) ?? records[0]
}

function pageOf(instance: InstanceRecord | undefined): PageOf | undefined {
  if (instance?.webPort === undefined) return undefined
  return { url: `http://localhost:${instance.webPort}/`, recordedDir: instance.archiveDir }
}
