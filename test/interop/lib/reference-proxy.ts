/** PCP's pmproxy as a separate process, restarted after a request has crashed it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../bench/macro/lib/free-port.ts'
import { rawRequest } from '../../lib/raw-http.ts'

/** Its path on Debian. */
export const REFERENCE_PROXY = '/usr/lib/pcp/bin/pmproxy'

/** A running pmproxy; `port` stays the same after restarts. */
export class ReferenceProxy {
  readonly port: number
  /** Number of crashes. */
  deaths = 0
  readonly #env: NodeJS.ProcessEnv
  readonly #dir: string = mkdtempSync(join(tmpdir(), 'pmproxy-interop-'))
  #child: ChildProcess | undefined

  private constructor(port: number, env: NodeJS.ProcessEnv) {
    this.port = port
    this.#env = env
  }

  /** Starts one, and waits until it responds. */
  static async start(env: NodeJS.ProcessEnv): Promise<ReferenceProxy> {
    const proxy = new ReferenceProxy(await freePort(), env)
    await proxy.#launch()
    return proxy
  }

  /** Restarts it if it has exited; returns whether it had. */
  async revive(): Promise<boolean> {
    if ((await rawRequest(this.port, 'GET /pmapi/context HTTP/1.1\r\n\r\n')) !== undefined) return false
    this.deaths++
    await this.#launch()
    return true
  }

  /** Stops it and starts another one. */
  async restart(): Promise<void> {
    await this.#end()
    await this.#launch()
  }

  /** Stops it and removes its files. */
  async stop(): Promise<void> {
    await this.#end()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #end(): Promise<void> {
    const child = this.#child!
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
  }

  async #launch(): Promise<void> {
    const files = ['-s', join(this.#dir, 'socket'), '-l', join(this.#dir, 'log')]
    const args = ['-f', '-t', '-A', '-p', String(this.port), ...files]
    this.#child = spawn(REFERENCE_PROXY, args, { env: this.#env, cwd: this.#dir, stdio: 'ignore' })
    for (let attempt = 0; attempt < 600; attempt++) {
      if ((await rawRequest(this.port, 'GET /pmapi/context HTTP/1.1\r\n\r\n')) !== undefined) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error('pmproxy of PCP does not respond')
  }
}
