/** What a command is: a row of the registry, and everything it may touch. */
import type { openArchive } from '../../pmapi/archive.ts'
import type { connect } from '../../pmapi/connect.ts'
import type { CommandLine, OptionTable } from './options.ts'

/** Where a command writes; text is collected and written in large blocks. A terminal shows control characters in it and obeys none. */
export interface Output {
  write(text: string): void
  /** Writes bytes of text after what was written before; they may be used again at once. For reports of many megabytes. */
  writeBytes(bytes: Uint8Array): void
  /** Writes text with the command's own control sequences, which a terminal obeys: data in it must be `printable` already. */
  writeControls(text: string): void
  /** Writes what was collected, and waits until the reader took it. */
  flush(): Promise<void>
  /** Is it a terminal? */
  readonly isTerminal: boolean
}

/** Everything a command may touch, so that tests run it in-process. */
export interface ToolIo extends CommandLine {
  readonly cwd: string
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdout: Output
  readonly stderr: Output
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Aborted when the user interrupts, with an `interruption` as reason. */
  readonly signal: AbortSignal
  /** Opens contexts in place of pmapi's `connect`. */
  readonly connect?: typeof connect
  /** Opens archives in place of pmapi's `openArchive`. */
  readonly openArchive?: typeof openArchive
  /** All commands of this package, for the one that runs others. */
  readonly commands?: () => Promise<readonly CommandEntry[]>
}

/** A command that is loaded when somebody runs it. */
export interface CommandEntry {
  readonly name: string
  /** It answers --version itself. */
  readonly hasOwnVersion?: true
  readonly load: () => Promise<Tool>
}

/** A command. Its usage text, man page, shell completion and bin entry follow from this and from the registry. */
export interface Tool {
  readonly name: string
  /** One line for lists of commands, and for the man page. */
  readonly summary: string
  /** What the man page says beyond the options: paragraphs, an empty line between them. */
  readonly description?: string
  /** Command lines worth showing, with what they do, for the man page. */
  readonly examples?: readonly (readonly [command: string, purpose: string])[]
  /** Environment variables of its own, with what they mean, for the man page. */
  readonly environment?: readonly (readonly [variable: string, meaning: string])[]
  /** Exit statuses other than 0 for success and 1 for an error or a usage text, with what they mean. */
  readonly exitStatus?: readonly (readonly [status: number, meaning: string])[]
  /** Commands that belong to this one, for the man page, besides those that its standard options lead to. */
  readonly seeAlso?: readonly string[]
  /** What `parseOptions` reads the command line by; absent for a command without options of its own. */
  readonly options?: OptionTable
  /**
   * Ends in order on SIGINT and SIGTERM, through `ToolIo.signal`: removes what is half written, stops what it has started. Other
   * commands are killed by the signal, also in the middle of a loop that awaits nothing.
   */
  readonly endsInOrder?: boolean
  /** Runs the command; resolves to its exit status. */
  run(io: ToolIo): Promise<number>
}
