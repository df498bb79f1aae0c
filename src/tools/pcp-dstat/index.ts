/**
 * pcp-dstat: one line for each sample, with columns defined by plugins. pcp-dstat(1)
 *
 * Differences from PCP's are in docs/explanation/differences.md.
 */
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, release, userInfo } from 'node:os'
import { resolve } from 'node:path'
import { printableWord } from '../../base/printable.ts'
import { fromMillis } from '../../base/timestamp.ts'
import { VERSION } from '../../base/version.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { loadConfig } from '../../sys/config.ts'
import { strftime } from '../../time/strftime.ts'
import type { Zone } from '../../time/zone.ts'
import { handleEarlyExit, usageText } from '../lib/options.ts'
import { boundsOf, openReport } from '../lib/source.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { openBlock } from './blocks.ts'
import { csvHeading, csvLine } from './csv.ts'
import { type LinePart, timeBlock } from './lines.ts'
import { type DstatOptions, OPTIONS, readOptions, TIME_NAMES, type TimeName } from './options.ts'
import { type PluginSet, pluginOf, readPlugins } from './plugins.ts'
import { delayOf, type ReportSetup, report } from './report.ts'
import { ON_DARK, ON_LIGHT, PLAIN, type Theme } from './theme.ts'

export const tool: Tool = {
  name: 'pcp-dstat',
  summary: 'Show the activity of a host, one line a sample, with colours',
  description: `
Each line is a sample, and each block of columns is a plugin: processors, disks, networks, memory and many more. The default is
-cdngy. The delay between lines is in seconds, or an interval with a unit. Count is the number of lines after the first one, which
only has values that do not need a previous sample.

Source and time window are options of pcp(1): pcp -h HOST dstat, pcp -a ARCHIVE dstat. Most letters have another meaning here.

Plugins are sections of the files in $PCP_SYSCONF_DIR/dstat and $HOME/.pcp/dstat, and those of this package that are in neither.
Each is an option of its name. Plugins with unknown metrics are reported and left out.`,
  examples: [
    ['pcp dstat -tcm 5', 'Times, processors and memory every five seconds:'],
    ['pcp -a ARCHIVE dstat --top-cpu --disk -D sda,total', 'What used the processors most, and disks:'],
    ['pcp dstat -a -o day.csv 60 1440', 'A day in a file for a spreadsheet:'],
  ],
  seeAlso: ['pcp', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    try {
      return await run(io)
    } catch (error) {
      if (!(error instanceof PcpError && error.code === 'PM_ERR_GENERIC' && error.message !== '')) throw error
      io.stderr.write(`${error.message}\n`)
      return 1
    }
  },
}

async function run(io: ToolIo): Promise<number> {
  const { variables } = loadConfig(io.env, { uid: process.getuid?.() ?? 0 })
  const set = readPlugins(io.env, variables)
  const options = readOptions(new Set(set.plugins.keys()), io)
  if (options.problems.length > 0 || options.instead === 'help') {
    for (const problem of options.problems) io.stderr.write(`${io.progname}: ${problem}\n`)
    io[options.problems.length > 0 ? 'stderr' : 'stdout'].write(usageText(OPTIONS, io.progname))
    return options.problems.length > 0 ? 1 : 0
  }
  handleEarlyExit(OPTIONS, { given: [], problems: [], standard: options.standard }, io) // applies -D of the wrapper
  if (options.isDefault && options.instead !== 'list' && options.instead !== 'version')
    io.stdout.write('You did not select any stats, using -cdngy by default.\n')
  if (options.wrongOperand !== undefined) {
    io.stderr.write(`${options.wrongOperand}\n`)
    return 1
  }
  if (options.instead === 'check') return checkAll(set, io)
  if (options.instead === 'list') {
    io.stdout.write(pluginList(set))
    return 0
  }
  return withContext(options, set, io)
}

/** Reports errors of all plugins. */
function checkAll({ plugins }: PluginSet, io: ToolIo): number {
  let status = 0
  for (const [name, keys] of plugins) {
    try {
      pluginOf(name, keys)
    } catch (error) {
      io.stderr.write(`${PcpError.from(error).message}\n`)
      status = 1
    }
  }
  return status
}

async function withContext(options: DstatOptions, set: PluginSet, io: ToolIo): Promise<number> {
  const context = await open(options, io)
  try {
    if (options.instead !== 'version') return await show(context, options, set, io)
    io.stdout.write(await versionText(context, set, io))
  } catch (error) {
    if (!(error instanceof PcpError && error.code === 'ECANCELED')) throw error
    io.stdout.write('\n')
  } finally {
    await context.close()
  }
  return 0
}

/** As in PCP's dstat, the error does not name the archive. */
async function open({ standard }: DstatOptions, io: ToolIo): Promise<Context> {
  try {
    return await openReport(standard, io)
  } catch (error) {
    const { code, text } = PcpError.from(error)
    if (standard.source !== 'archive') throw error
    throw new PcpError(code, text, { cause: error })
  }
}

/** Returns the window title: user, host and command line. */
async function titleOf(context: Context, io: ToolIo): Promise<string> {
  return `(${userName()}@${await context.hostname(io)}) ${commandLine(io)}`
}

/** Resolves to 1 if a plugin was left out. */
async function show(context: Context, options: DstatOptions, set: PluginSet, io: ToolIo): Promise<number> {
  const { standard, delay } = options
  const { zone } = await reportingZone(standard, context, io)
  const { parts, isWhole } = await openParts(context, options, set, zone, io)
  if (parts.length === 0) return 1
  const window = samplingWindow(standard, boundsOf(context, standard, io), zone, io)
  const file = options.output === undefined ? undefined : resolve(io.cwd, options.output)
  if (file !== undefined)
    appendFileSync(file, await csvBeginning(context, parts, zone, !existsSync(file), io))
  const theme = themeOf(options, io)
  if (io.stdout.isTerminal && /^(?:xterm|screen|rxvt|tmux)/.test(io.env['TERM'] ?? ''))
    io.stdout.writeControls(`\x1b]0;${printableWord(await titleOf(context, io))}\x07`)
  const setup: ReportSetup = {
    context,
    parts,
    theme,
    window,
    delaySec: delayOf(delay),
    count: options.count,
    repeatsHeadings: options.repeatsHeadings,
    tellsMissed: options.tellsMissed,
    updates: options.updates,
    toFile: file === undefined ? undefined : (row, note) => appendFileSync(file, csvLine(row, note)),
  }
  const pidfile = options.pidfile === undefined ? undefined : resolve(io.cwd, options.pidfile)
  if (pidfile !== undefined) writeFileSync(pidfile, `${process.pid}\n`)
  try {
    await report(setup, io)
  } finally {
    if (pidfile !== undefined) rmSync(pidfile, { force: true })
  }
  return isWhole ? 0 : 1
}

/** Opens the parts of a line. Plugins with errors or unknown metrics are reported and left out. */
async function openParts(
  context: Context,
  options: DstatOptions,
  { plugins }: PluginSet,
  zone: Zone,
  io: ToolIo,
): Promise<{ readonly parts: readonly LinePart[]; readonly isWhole: boolean }> {
  const parts: LinePart[] = []
  let isVoid = true
  let isWhole = true
  for (const name of options.shown) {
    if ((TIME_NAMES as readonly string[]).includes(name)) {
      parts.push(timeBlock(name as TimeName, zone, io.env['DSTAT_TIMEFMT']))
      isVoid = false
      continue
    }
    const keys = plugins.get(name)
    if (keys === undefined) {
      io.stderr.write(`Ignoring unknown plugin '${name}'\n`)
      continue
    }
    try {
      const block = await openBlock(context, pluginOf(name, keys), options, options, io)
      if (block.headings().some(({ columns }) => columns.length > 0)) isVoid = false
      parts.push(block)
    } catch (error) {
      if (!(error instanceof PcpError && error.code === 'PM_ERR_GENERIC')) throw error
      io.stderr.write(`${error.message}\n`)
      isWhole = false
    }
  }
  if (isVoid && isWhole) throw new PcpError('PM_ERR_GENERIC', 'No matching instances found.')
  return { parts: isVoid ? [] : parts, isWhole }
}

function themeOf({ color, onLight }: DstatOptions, io: ToolIo): Theme {
  const isAble = io.stdout.isTerminal && /xterm|screen|rxvt|tmux|linux|color|vt220/.test(io.env['TERM'] ?? '')
  if (!(color ?? isAble)) return PLAIN
  return onLight ? ON_LIGHT : ON_DARK
}

async function csvBeginning(
  context: Context,
  parts: readonly LinePart[],
  zone: Zone,
  isNew: boolean,
  io: ToolIo,
): Promise<string> {
  const { sec } = fromMillis(io.now())
  const date = strftime('%d %b %Y %H:%M:%S %Z', sec, zone)
  const host = await context.hostname(io)
  return csvHeading(
    { version: pcpVersion(io), host, user: userName(), command: commandLine(io), date, isNew },
    parts,
  )
}

function commandLine({ progname, args }: ToolIo): string {
  return [progname, ...args].join(' ')
}

/** Returns the name of the user; the number without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}

/** Lists plugins by folder, in lines of a screen's width. */
function pluginList({ folders }: PluginSet): string {
  const lists = [{ path: 'timestamp', names: TIME_NAMES as readonly string[] }, ...folders]
  return lists
    .map(({ path, names }) => {
      const lines: string[] = []
      let line = ''
      for (const [i, name] of names.entries()) {
        const text = i === names.length - 1 ? name : `${name}, `
        if (line.length + text.length > LIST_WIDTH) {
          lines.push(line)
          line = ''
        }
        line += text
      }
      return `${path} plugins:\n${[...lines, line].map((each) => `\t${each}\n`).join('')}`
    })
    .join('')
}

/** Returns the version of the installed PCP, whose files and reports are compatible; without one our own. */
function pcpVersion(io: ToolIo): string {
  return loadConfig(io.env, { uid: process.getuid?.() ?? 0 }).variables['PCP_VERSION'] ?? VERSION
}

const LIST_WIDTH = 72

async function versionText(context: Context, set: PluginSet, io: ToolIo): Promise<string> {
  const facts = await factsOf(context, io)
  const { rows = 25, columns = 80 } = io.stdout.isTerminal ? process.stdout : {}
  const terminal = io.env['TERM'] ?? 'vt100'
  return [
    `${io.progname} ${pcpVersion(io)}`,
    'Written by the PCP team <pcp@groups.io> and Dag Wieers <dag@wieers.com>',
    'Homepages at https://pcp.io/ and http://dag.wieers.com/home-made/dstat/',
    '',
    `Platform ${facts.sysname}`,
    `Kernel ${facts.release}`,
    `Python not used: Node.js ${process.version}`,
    '',
    `Terminal type: ${terminal} (${io.stdout.isTerminal ? 'color' : 'no color'} support)`,
    `Terminal size: ${rows} lines, ${columns} columns`,
    '',
    `Processors: ${facts.processors}`,
    `Pagesize: ${facts.pageSize}`,
    `Clock ticks per second: ${facts.ticks}`,
    '',
    pluginList(set),
  ].join('\n')
}

/** Returns facts about the host; empty if unknown. */
async function factsOf(context: Context, io: ToolIo): Promise<Record<string, string>> {
  const names = {
    sysname: 'kernel.uname.sysname',
    release: 'kernel.uname.release',
    processors: 'hinv.ncpu',
    pageSize: 'hinv.pagesize',
    ticks: 'kernel.all.hz',
  }
  const facts: Record<string, string> = {}
  for (const [key, name] of Object.entries(names)) {
    try {
      const row = await context.values([name], io)
      facts[key] = String(row.value(name as never) ?? '')
    } catch {
      facts[key] = context.archive === undefined && key === 'release' ? `${release()} (${hostname()})` : ''
    }
  }
  return facts
}
