/**
 * Preloaded into a daemon: on SIGWINCH it opens all remaining file descriptors and runs every pending timer, so that any
 * file opened by a timer fails. The next SIGWINCH closes them. Each step is reported with a line in a file.
 */
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs'

const waiting = new Map()
const taken = []
const report = openSync(`${process.env.PCP_TS_EXHAUST}.${process.pid}`, 'a')

for (const name of ['setTimeout', 'setInterval']) {
  const real = globalThis[name]
  globalThis[name] = (callback, ms, ...args) => {
    const isRepeated = name === 'setInterval'
    const timer = real(
      (...given) => {
        if (!isRepeated) waiting.delete(timer)
        callback(...given)
      },
      ms,
      ...args,
    )
    waiting.set(timer, () => {
      if (!isRepeated) globalThis.clearTimeout(timer)
      callback(...args)
    })
    return timer
  }
}
for (const name of ['clearTimeout', 'clearInterval']) {
  const real = globalThis[name]
  globalThis[name] = (timer) => {
    waiting.delete(timer)
    real(timer)
  }
}

process.on('SIGWINCH', () => {
  if (taken.length > 0) {
    for (const fd of taken.splice(0)) closeSync(fd)
    writeSync(report, 'released\n')
    return
  }
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch (error) {
    if (error.code !== 'EMFILE') throw error
  }
  const calls = [...waiting.values()]
  // An exception ends the process, as it would from the timer itself.
  for (const call of calls) setImmediate(call)
  setImmediate(() => setImmediate(() => writeSync(report, `exhausted ${calls.length}\n`)))
})
appendFileSync(report, 'ready\n')
