/** Commands encoded for a key server, in one growing buffer. https://valkey.io/topics/protocol/ */

/** Text as UTF-8, bytes unchanged, a number in decimal. */
export type Argument = string | Uint8Array | number

/** A command with its arguments. */
export type Command = readonly Argument[]

/** Node takes buffers of this size from its pool. */
const FIRST_BYTES = 1 << 10
/** Most digits and line ends around an argument. */
const FRAME = 16
const INT32 = 2 ** 31
/** Integers below this have at most 15 digits, and tenths of them are exact. */
const MOST_DIGITS_VALUE = 1e15
const CR = 13
const LF = 10
const DOLLAR = 36
const STAR = 42
const ZERO = 48

/** Commands as they are sent. */
export interface EncodedCommands {
  readonly bytes: Buffer
  /** Where each command begins. */
  readonly offsets: readonly number[]
  /** What to do with the reply to a command, by its number. */
  readonly handlers: ReadonlyMap<number, ReplyHandler>
}

/** Called with the reply to a command. */
export type ReplyHandler = (reply: unknown) => void

/** Encodes commands. */
export class CommandBuffer {
  readonly #allocate: (least: number) => Buffer
  #bytes: Buffer
  #used = 0
  #offsets: number[] = []
  #handlers = new Map<number, ReplyHandler>()

  /** `allocate` returns a buffer of at least this many bytes, for reuse of those whose commands are done. */
  constructor(allocate: (least: number) => Buffer = (least) => Buffer.allocUnsafe(least)) {
    this.#allocate = allocate
    this.#bytes = allocate(FIRST_BYTES)
  }

  /** Number of commands. */
  get count(): number {
    return this.#offsets.length
  }

  /** Length in bytes. */
  get length(): number {
    return this.#used
  }

  /** Adds a command. */
  add(command: Command, onReply?: ReplyHandler): void {
    if (onReply !== undefined) this.#handlers.set(this.#offsets.length, onReply)
    this.begin(command.length)
    for (const each of command) this.argument(each)
  }

  /** Begins a command; exactly `count` arguments must follow. */
  begin(count: number): void {
    this.#offsets.push(this.#used)
    this.#reserve(FRAME)
    this.#number(STAR, count)
  }

  /** Adds an argument to the command that was begun. */
  argument(value: Argument): void {
    if (typeof value === 'string') {
      // ASCII, which nearly everything is, has as many bytes as characters.
      const { length } = value
      this.#reserve(3 * length + 2 * FRAME)
      const before = this.#used
      this.#number(DOLLAR, length)
      const start = this.#used
      const written = this.#bytes.write(value, start)
      if (written === length) this.#used += length
      else {
        this.#used = before
        this.#number(DOLLAR, written)
        this.#bytes.write(value, this.#used)
        this.#used += written
      }
    } else if (typeof value === 'number') {
      this.argument(String(value))
      return
    } else {
      this.#reserve(value.length + 2 * FRAME)
      this.#number(DOLLAR, value.length)
      this.#bytes.set(value, this.#used)
      this.#used += value.length
    }
    this.#lineEnd()
  }

  /** Adds a command that was encoded before. */
  encoded(bytes: Uint8Array): void {
    this.#offsets.push(this.#used)
    this.raw(bytes)
  }

  /** Adds what `encodedArguments` returned. */
  raw(bytes: Uint8Array): void {
    const { length } = bytes
    this.#reserve(length)
    this.#bytes.set(bytes, this.#used)
    this.#used += length
  }

  /** Adds an integer as argument. */
  integer(value: number): void {
    if (value < 0 || value >= MOST_DIGITS_VALUE) {
      this.argument(String(value))
      return
    }
    let digits = 1
    for (let power = 10; power <= value; power *= 10) digits++
    this.#reserve(digits + 2 * FRAME)
    this.#number(DOLLAR, digits)
    let rest = value
    const start = this.#used
    for (let at = start + digits - 1; at >= start; at--) {
      const tenth = rest < INT32 ? (rest / 10) | 0 : Math.floor(rest / 10)
      this.#bytes[at] = ZERO + (rest - 10 * tenth)
      rest = tenth
    }
    this.#used = start + digits
    this.#lineEnd()
  }

  /** Returns the commands, and where each begins, and starts with an empty buffer. */
  take(): EncodedCommands {
    const bytes = this.#bytes.subarray(0, this.#used)
    const offsets = this.#offsets
    const handlers = this.#handlers
    if (handlers.size > 0) this.#handlers = new Map()
    this.#bytes = this.#allocate(this.#bytes.length)
    this.#used = 0
    this.#offsets = []
    return { bytes, offsets, handlers }
  }

  /** Returns a copy of the added bytes, and starts anew in the same buffer. */
  takeCopy(): Uint8Array {
    const copy = Uint8Array.prototype.slice.call(this.#bytes, 0, this.#used)
    this.#used = 0
    return copy
  }

  #reserve(count: number): void {
    const needed = this.#used + count
    if (needed <= this.#bytes.length) return
    const larger = this.#allocate(Math.max(needed, 2 * this.#bytes.length))
    larger.set(this.#bytes.subarray(0, this.#used))
    this.#bytes = larger
  }

  #number(mark: number, value: number): void {
    this.#bytes[this.#used++] = mark
    if (value < 10) this.#bytes[this.#used++] = ZERO + value
    else if (value < 100) {
      this.#bytes[this.#used++] = ZERO + ((value / 10) | 0)
      this.#bytes[this.#used++] = ZERO + (value % 10)
    } else this.#used += this.#bytes.write(String(value), this.#used, 'latin1')
    this.#lineEnd()
  }

  #lineEnd(): void {
    this.#bytes[this.#used++] = CR
    this.#bytes[this.#used++] = LF
  }
}

/** Returns arguments as they are sent, for commands that repeat them. */
export function encodedArguments(...values: readonly Argument[]): Uint8Array {
  for (const each of values) scratch.argument(each)
  return scratch.takeCopy()
}

const scratch = new CommandBuffer()
