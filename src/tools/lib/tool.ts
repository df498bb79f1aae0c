/** The interface of a command: its entry in the registry, and its environment. */
import type { openArchive } from '../../pmapi/archive.ts'
import type { connect } from '../../pmapi/connect.ts'
import type { CommandLine, OptionTable } from './options.ts'

/** Output of a command, buffered into large blocks. A terminal shows control characters visibly. */
export interface Output {
  write(text: string): void
  /** Appends encoded text; the buffer can be reused immediately. For reports of many megabytes. */
  writeBytes(bytes: Uint8Array): void
  /** Writes text with control sequences for a terminal; data in it must already be `printable`. */
  writeControls(text: string): void
  /** Writes buffered text, and resolves when the reader has taken it. */
  flush(): Promise<void>
  readonly isTerminal: boolean
}

/** The environment of a command, replaceable so that tests run it in-process. */
export interface ToolIo extends CommandLine {
  readonly cwd: string
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdout: Output
  readonly stderr: Output
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Aborted by an interrupt, with an `interruption` as reason. */
  readonly signal: AbortSignal
  /** Replaces pmapi's `connect`. */
  readonly connect?: typeof connect
  /** Replaces pmapi's `openArchive`. */
  readonly openArchive?: typeof openArchive
  /** Loads all commands of this package, for a command that runs others. */
  readonly commands?: () => Promise<readonly CommandEntry[]>
}

/** A command in the registry, loaded when it is run. */
export interface CommandEntry {
  readonly name: string
  /** The command that runs it by its first argument. */
  readonly subcommandOf?: string
  /** It handles --version itself. */
  readonly hasOwnVersion?: true
  readonly load: () => Promise<Tool>
}

/** A command. Usage text, man page, shell completion and bin entry are generated from this and the registry. */
export interface Tool {
  readonly name: string
  /** One line for lists of commands and the man page. */
  readonly summary: string
  /** Paragraphs for the man page, separated by empty lines. */
  readonly description?: string
  /** Command lines with explanations for the man page. */
  readonly examples?: readonly (readonly [command: string, purpose: string])[]
  /** Environment variables with their meaning for the man page. */
  readonly environment?: readonly (readonly [variable: string, meaning: string])[]
  /** Exit statuses with their meaning, except 0 for success and 1 for an error or a usage text. */
  readonly exitStatus?: readonly (readonly [status: number, meaning: string])[]
  /** Related commands for the man page, in addition to those of its standard options. */
  readonly seeAlso?: readonly string[]
  /** The option table; absent for a command without options. */
  readonly options?: OptionTable
  /**
   * Shuts down on SIGINT and SIGTERM through `ToolIo.signal`, removing partial output and stopping child processes. Other commands are
   * killed by the signal, even in a synchronous loop.
   */
  readonly shutsDownOnSignal?: boolean
  /** Runs the command; resolves to its exit status. */
  run(io: ToolIo): Promise<number>
}
