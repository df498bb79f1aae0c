/**
 * pmafm: runs commands over the archives of a folio. pmafm(1)
 *
 * Unlike 6.0.3, it exits with status 1 after a failed or unknown command, lists archive files in other folders for removal, and omits
 * missing parts in that output.
 */
import { decodeText } from '../../base/text.ts'
import type { OptionTable } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type ToolClasses, toolClasses } from './classes.ts'
import { type Folio, readFolio } from './folio.ts'
import { check, list, removeLine } from './lists.ts'
import { reportUnknown, runOver } from './runs.ts'
import { Selection } from './selection.ts'
import { shellWords } from './words.ts'

const OPTIONS: OptionTable = {
  synopsis: 'folioname [command [arg ...]]',
  operands: 'file',
  posix: true,
  rows: [],
}

const COMMANDS = [
  'archives',
  'check',
  'help',
  '?',
  'hosts',
  'list',
  'quit',
  'remove',
  'repeat',
  'replay',
  'run',
  'selections',
] as const
type Command = (typeof COMMANDS)[number]

const HELP = `Commands for the archives of a folio, which may be shortened:

  archives [N,...]      the next commands are for these archives, by number or name [all]
  check                 are all files there, and of the hosts that the folio names?
  help                  this text
  hosts [NAME,...]      the next commands are for the archives of these hosts [all]
  list [verbose]        what is in the folio, with the labels of its archives
  quit                  end
  remove                show the shell command that removes the folio and its archives
  repeat TOOL [ARG ...] run a tool once for each archive
  replay                run the tool that made the folio
  [run] TOOL [ARG ...]  run a tool, on all archives at once if it can
  selections            which archives the next commands are for

Where both hosts and archives are chosen, archives that are both are meant.
`

const PROMPT = 'pmafm> '

/** Runs one command on a folio, or commands from standard input. */
export const tool: Tool = {
  name: 'pmafm',
  summary: 'Run commands over the archives of a folio',
  description: `
A folio lists archives; mkaf creates one. Runs the command that follows the folio's name, or commands from standard input, one per
line; help lists them. Tools that can take several archives get all of them at once, others run once per archive.

Files in PCP_VAR_DIR/config/pmafm and ~/.pcp/pmafm list the tools: lines MULTI="...", SINGLE="...", SPECIAL="..." and REPLAY="..."
name tools for several archives, for one archive, with the archive as an operand, and tools that can replay their own recordings.`,
  examples: [
    ['pmafm november.folio list', 'List the archives of a folio:'],
    ['pmafm november.folio pmlogsummary kernel.all.load', 'Summarize the load in each archive:'],
  ],
  seeAlso: ['mkaf'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const [file, ...words] = io.args
    if (file === undefined || file === '-?' || file === '--help') {
      io.stderr.write(`Usage: ${io.progname} ${OPTIONS.synopsis}\n`)
      return 1
    }
    const folio = readFolio(file, io.cwd)
    const session = new Session(folio, toolClasses(io.env), io)
    if (words.length > 0) return session.command(words)
    return session.commands()
  },
}

class Session {
  readonly #folio: Folio
  readonly #classes: ToolClasses
  readonly #io: ToolIo
  readonly #selection: Selection
  #hasQuit = false

  constructor(folio: Folio, classes: ToolClasses, io: ToolIo) {
    this.#folio = folio
    this.#classes = classes
    this.#io = io
    this.#selection = new Selection(folio)
  }

  /** Runs the commands on standard input. */
  async commands(): Promise<number> {
    const { stdin, stdout } = this.#io
    let status = 0
    let text = ''
    stdout.write(PROMPT)
    await stdout.flush()
    for await (const chunk of stdin) {
      text += decodeText(chunk)
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
        const words = shellWords(text.slice(0, at))
        text = text.slice(at + 1)
        if (words.length > 0) status = await this.command(words)
        if (this.#hasQuit) return status
        stdout.write(PROMPT)
        await stdout.flush()
      }
    }
    stdout.write('\n')
    return status
  }

  /** Runs one command; resolves to its status. */
  async command([word = '', ...args]: readonly string[]): Promise<number> {
    const { stdout } = this.#io
    const command = this.#commandOf(word)
    const ignored = (what: string) => (name: string) =>
      stdout.write(`Warning: ${what} "${name}" not in folio ... ignored\n`)
    switch (command) {
      case 'archives':
        this.#selection.chooseArchives(listed(args), ignored('archive'))
        return 0
      case 'hosts':
        this.#selection.chooseHosts(listed(args), ignored('host'))
        return 0
      case 'check':
        return check(this.#folio, this.#io)
      case 'help':
      case '?':
        stdout.write(HELP)
        return 0
      case 'list':
        return this.#list(args)
      case 'quit':
        this.#hasQuit = true
        return 0
      case 'remove':
        stdout.write(`${removeLine(this.#folio, this.#io.cwd)}\n`)
        return 0
      case 'repeat':
        return this.#run(args, true)
      case 'run':
        return this.#run(args, false)
      case 'replay':
        return this.#replay()
      case 'selections':
        return this.#showSelections()
      default:
        if (this.#isTool(word)) return this.#run([word, ...args], false)
        stdout.write(`Unknown command "${word}" ... enter "help" for more information\n`)
        return 1
    }
  }

  /** Returns the command a word abbreviates unambiguously. */
  #commandOf(word: string): Command | undefined {
    const found = COMMANDS.filter((command) => command.startsWith(word))
    return COMMANDS.find((command) => command === word) ?? (found.length === 1 ? found[0] : undefined)
  }

  #isTool(word: string): boolean {
    const { multi, single, special } = this.#classes
    return multi.has(word) || single.has(word) || special.has(word)
  }

  async #list(args: readonly string[]): Promise<number> {
    const isVerbose = args[0] !== undefined && 'verbose'.startsWith(args[0])
    if (args.length > 0 && !isVerbose) this.#io.stdout.write(`Illegal option "${args[0]}" ... ignored\n`)
    return list(this.#folio, this.#selection, isVerbose, this.#io)
  }

  async #run([name, ...args]: readonly string[], isSerial: boolean): Promise<number> {
    if (name === undefined) return reportUnknown(undefined, this.#classes, this.#io)
    return runOver({ name, args, entries: this.#selection.entries, isSerial }, this.#classes, this.#io)
  }

  async #replay(): Promise<number> {
    const { tool: name = 'unknown', config } = this.#folio
    if (this.#classes.replay.has(name)) {
      const args = config === undefined || config === '' ? [] : ['-c', `${this.#folio.folder}${config}`]
      return this.#run([name, ...args], false)
    }
    this.#io.stdout.write(
      `Error: I don't know how to replay a folio created by "${name}"\n       ... choose a PCP tool and use the "run" command to replay\n`,
    )
    return 1
  }

  #showSelections(): number {
    const { entries } = this.#selection
    const lines = entries.map(({ path }) => `Archive: ${path}\n`)
    this.#io.stdout.write(lines.length === 0 ? 'Error: no selected archives\n' : lines.join(''))
    return lines.length === 0 ? 1 : 0
  }
}

/** Splits names separated by commas or blanks. */
function listed(args: readonly string[]): string[] {
  return args.flatMap((arg) => arg.split(',')).filter((name) => name !== '')
}
