/**
 * Decompresses gzip files of any size into an open file, synchronously. Node's zlib works in pieces only asynchronously, so
 * another thread does it. Memory use stays small, and a deadline stops the thread.
 */
import {
  contentLimit,
  contentTooLargeError,
  type DecodeLimits,
  decodeTimeoutError,
} from '../base/decode/limits.ts'

/** Indices into the shared numbers. */
const STATE = 0
const CANCELLED = 1
const TEXT_LENGTH = 2
const NUMBERS = 3
const TEXT_BYTES = 1024

const STARTING = 0
const RUNNING = 1
const DONE = 2
const TOO_MUCH = 3
const DAMAGED = 4
const SYSTEM = 5
const ABANDONED = 6

/** Longest time until a thread starts: without free file descriptors it never does, and its error event arrives only after the caller's wait. */
const START_MS = 2000

/** Longest time until a cancelled thread stops writing: it finishes one chunk first. */
const CANCEL_MS = 10_000

/** The thread's program as text: commands are bundled into single files, and a second file would have to be found. */
const PROGRAM = `
const { workerData: { path, fd, limit, numbers, text } } = require('node:worker_threads')
const { createReadStream, writeSync } = require('node:fs')
const { Writable, pipeline } = require('node:stream')
let size = 0
const end = (state, message) => {
  const bytes = new TextEncoder().encode(message ?? '').subarray(0, ${TEXT_BYTES})
  text.set(bytes)
  numbers[${TEXT_LENGTH}] = bytes.length
  Atomics.store(numbers, ${STATE}, state)
  Atomics.notify(numbers, ${STATE})
}
const content = new Writable({
  write(bytes, _, done) {
    if (Atomics.load(numbers, ${CANCELLED}) === 1) return done(new Error('cancelled'))
    size += bytes.length
    if (size > limit) return done(new Error('too much'))
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      done()
    } catch (error) {
      done(error)
    }
  },
})
// A thread that was cancelled before it started must not touch the file descriptor, which may refer to another file by now.
const isWanted = Atomics.compareExchange(numbers, ${STATE}, ${STARTING}, ${RUNNING}) === ${STARTING}
Atomics.notify(numbers, ${STATE})
if (isWanted) pipeline(createReadStream(path, { highWaterMark: 65536 }), require('node:zlib').createGunzip(), content, (error) => {
  if (!error) end(${DONE})
  else if (size > limit) end(${TOO_MUCH})
  else if (error.syscall) end(${SYSTEM}, error.code + ' ' + error.message)
  else end(${DAMAGED}, error.message)
})
`

/** Data shared with the caller. */
interface ThreadData {
  readonly path: string
  readonly fd: number
  readonly limit: number
  readonly numbers: Int32Array
  readonly text: Uint8Array
}

export type StartThread = (data: ThreadData) => void

function startWorker(workerData: ThreadData): void {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(PROGRAM, { eval: true, execArgv: [], workerData })
  worker.unref()
  worker.on('error', () => {}) // the waiting caller reports it
}

/**
 * Writes the content of a gzip file to a file descriptor and blocks until it is complete. `compressed` is the file's size.
 * Throws the errors of `DecodeLimits`, Node's error for files that cannot be read or written, EAGAIN if no thread starts, and an error without a code for damage.
 */
export function gunzipFile(
  path: string,
  compressed: number,
  fd: number,
  limits: DecodeLimits,
  start: StartThread = startWorker,
): void {
  const numbers = new Int32Array(new SharedArrayBuffer(4 * NUMBERS))
  const text = new Uint8Array(new SharedArrayBuffer(TEXT_BYTES))
  const limit = contentLimit(limits, compressed)
  start({ path, fd, limit, numbers, text })
  Atomics.wait(numbers, STATE, STARTING, START_MS)
  if (Atomics.compareExchange(numbers, STATE, STARTING, ABANDONED) === STARTING) throw noThread(path)
  const isLate = Atomics.wait(numbers, STATE, RUNNING, limits.maxMs) === 'timed-out'
  if (isLate) {
    // The thread must not write to the file descriptor once the caller has closed it.
    Atomics.store(numbers, CANCELLED, 1)
    Atomics.wait(numbers, STATE, RUNNING, CANCEL_MS)
    throw decodeTimeoutError(limits)
  }
  const state = Atomics.load(numbers, STATE)
  if (state === DONE) return
  if (state === TOO_MUCH) throw contentTooLargeError(limit, compressed)
  const message = new TextDecoder().decode(text.slice(0, numbers[TEXT_LENGTH]))
  if (state !== SYSTEM) throw new Error(message)
  const space = message.indexOf(' ')
  throw Object.assign(new Error(message.slice(space + 1)), {
    code: message.slice(0, space),
    syscall: 'gunzip',
  })
}

function noThread(path: string): Error {
  const message = `EAGAIN: no thread started within ${START_MS / 1000} s to decompress ${path}: free memory, or allow more open files (ulimit -n)`
  return Object.assign(new Error(message), { code: 'EAGAIN', syscall: 'gunzip' })
}
