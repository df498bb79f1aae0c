import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type { PartProcess } from '../../src/start/part-process.ts'
import { Supervisor } from '../../src/start/supervisor.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A process controlled by the test. */
interface Fake extends PartProcess<number> {
  succeed(report: number): void
  fail(error: PcpError): void
  end(how: string): void
  readonly stops: number
}

function fake(): Fake {
  let succeed = (_: number): void => {}
  let fail = (_: PcpError): void => {}
  let end = (_: string): void => {}
  let stops = 0
  const ended = new Promise<string>((resolve) => {
    end = resolve
  })
  const started = new Promise<number>((resolve, reject) => {
    succeed = resolve
    fail = reject
    void ended.then((how) => reject(new PcpError('ECHILD', how)))
  })
  started.catch(() => {})
  return {
    pid: 1,
    started,
    ended,
    succeed,
    fail,
    end,
    get stops() {
      return stops
    },
    stop: async () => {
      stops++
      end('ended with status 0')
    },
  }
}

function supervise(): { part: Supervisor<number>; processes: Fake[]; said: string[] } {
  const processes: Fake[] = []
  const said: string[] = []
  const part = new Supervisor<number>({
    name: 'recorder',
    open: () => {
      const process = fake()
      processes.push(process)
      return process
    },
    say: (line) => said.push(line),
    times: { random: () => 0 },
  })
  return { part, processes, said }
}

const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

test('a part that dies is restarted with growing delays, each printed', async () => {
  const { part, processes, said } = supervise()
  const started = part.start()
  processes[0]!.succeed(7)
  expect(await started).toBe(7)
  expect(said).toEqual([])
  const waits = [0, 1, 2, 4, 8, 16, 32, 60, 60]
  for (const [i, wait] of waits.entries()) {
    processes.at(-1)!.end('was killed by SIGKILL')
    await turn()
    const when = wait === 0 ? '' : ` in ${wait} s`
    expect(said.at(-1)).toBe(`recorder: was killed by SIGKILL; restarting${when}`)
    if (wait > 0) await vi.advanceTimersByTimeAsync(wait * 1000 - 1)
    if (wait > 0) expect(processes).toHaveLength(i + 1)
    await vi.advanceTimersByTimeAsync(1)
    expect(processes).toHaveLength(i + 2)
    processes.at(-1)!.succeed(i)
    await turn()
    expect(said.at(-1)).toBe('recorder: running again')
  }
  // After a minute of operation the back-off is reset.
  await vi.advanceTimersByTimeAsync(60_000)
  processes.at(-1)!.end('ended with status 3')
  await turn()
  expect(said.at(-1)).toBe('recorder: ended with status 3; restarting')
  await part.stop()
})

test('a failed start is retried, and its message is printed once', async () => {
  const { part, processes, said } = supervise()
  const started = part.start()
  const failure = new PcpError('EADDRINUSE', 'port 1 is taken')
  processes[0]!.fail(failure)
  processes[0]!.end('ended with status 1')
  expect(await started).toBe(failure)
  for (let i = 1; i < 4; i++) {
    await vi.advanceTimersByTimeAsync(60_000)
    processes[i]!.fail(failure)
    processes[i]!.end('ended with status 1')
    await turn()
  }
  expect(said).toEqual([])
  await vi.advanceTimersByTimeAsync(60_000)
  processes[4]!.fail(new PcpError('EACCES', 'no access'))
  processes[4]!.end('ended with status 1')
  await vi.advanceTimersByTimeAsync(60_000)
  processes[5]!.succeed(1)
  await turn()
  expect(said).toEqual(['recorder: cannot start: no access; retrying', 'recorder: running again'])
  await part.stop()
})

test('a stopped part is not restarted, even while waiting', async () => {
  const { part, processes, said } = supervise()
  void part.start()
  processes[0]!.succeed(1)
  await turn()
  await Promise.all([part.stop(), part.stop()])
  expect(processes[0]!.stops).toBe(1)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(processes).toHaveLength(1)
  const waiting = supervise()
  void waiting.part.start()
  for (let i = 0; i < 2; i++) {
    waiting.processes[i]!.end('was killed by SIGKILL')
    await turn()
  }
  await waiting.part.stop()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(waiting.processes).toHaveLength(2)
  expect(said).toEqual([])
})
