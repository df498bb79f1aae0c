/**
 * A container with systemd and the files of this machine, which stay unchanged: an overlay in memory, with a network of its own. Services of
 * the machine are not started in it. Needs root and systemd-nspawn.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** The package in the container. */
export const PACKAGE = '/usr/local/lib/node_modules/pcp-ts'

/** What a command in the container has printed, and its status. */
export interface MachineResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const ENVIRONMENT = [
  `PATH=${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
  'HOME=/root',
  'LANG=C.UTF-8',
]
/** Runs in a mount namespace of its own, so that the mounts end with the container. */
const BOOT = `
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
rm -rf "$1"/root/etc/systemd/system/*.wants "$1"/root/etc/systemd/system/pcp-ts* "$1/root/etc/pcp-ts" "$1/root${PACKAGE}"
mkdir -p "$1/root${PACKAGE}"
cp -a "$2/bin" "$2/share" "$2/package.json" "$1/root${PACKAGE}/"
chown -R root:root "$1/root${PACKAGE}"
ln -sf "${PACKAGE}/bin/pcp-ts" "$1/root/usr/local/bin/pcp-ts"
exec systemd-nspawn --quiet --boot --directory="$1/root" --private-network --keep-unit --register=no \\
  --machine="pcp-ts-test-$$" systemd.unit=multi-user.target
`

/** Returns why no container can be booted here; undefined if it can. */
export function whyNoMachine(): string | undefined {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return 'needs root on Linux'
  for (const program of ['systemd-nspawn', 'unshare', 'nsenter', 'ip'])
    if (spawnSync(program, ['--help'], { stdio: 'ignore' }).error !== undefined) return `needs ${program}`
  const { status, stderr } = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
  return status === 0 ? undefined : `cannot mount: ${String(stderr).trim()}`
}

/** Returns the first process of the container, 0 if there is none yet. */
function leaderOf(pid: number): number {
  try {
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    return readFileSync(`/proc/${first}/comm`, 'utf8') === 'systemd\n' ? Number(first) : 0
  } catch {
    return 0 // a command of the boot script that has ended
  }
}

export class SystemdMachine {
  readonly #child: ChildProcess
  readonly #dir: string
  #leader = 0

  private constructor(child: ChildProcess, dir: string) {
    this.#child = child
    this.#dir = dir
    process.once('exit', this.#kill)
  }

  readonly #kill = (): void => {
    try {
      if (this.#leader > 0) process.kill(this.#leader, 'SIGKILL')
    } catch {
      // It has ended.
    }
    this.#child.kill('SIGKILL')
  }

  /** Boots the container with the built package. Rejects with its console if it does not boot. */
  static async boot(): Promise<SystemdMachine> {
    const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-machine-'))
    const top = resolve(import.meta.dirname, '../../..')
    const args = ['-m', '--propagation', 'private', 'sh', '-c', BOOT, 'boot', dir, top]
    const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const machine = new SystemdMachine(child, dir)
    let console = ''
    for (const output of [child.stdout, child.stderr])
      output.on('data', (chunk: Buffer) => {
        console += String(chunk)
      })
    // Retried until systemd answers; its answer comes when it has started everything.
    while (!(await machine.#hasBooted())) {
      if (child.exitCode === null) continue
      await machine.close()
      throw new Error(`The container has not booted:\n${console}`)
    }
    await machine.run('ip', 'link', 'set', 'lo', 'up')
    return machine
  }

  async #hasBooted(): Promise<boolean> {
    this.#leader = leaderOf(this.#child.pid!)
    if (this.#leader === 0) {
      await new Promise((done) => setTimeout(done, 20))
      return false
    }
    const { stdout } = await this.run('systemctl', 'is-system-running', '--wait')
    return /^(running|degraded)$/m.test(stdout)
  }

  /** Runs a command in the container as root. */
  run(...command: readonly string[]): Promise<MachineResult> {
    const args = ['-a', '-t', String(this.#leader), 'env', '-i', ...ENVIRONMENT, ...command]
    return new Promise((done) => {
      execFile('nsenter', args, { encoding: 'utf8', maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
        done({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      )
    })
  }

  /** Runs a command as another account, whose service manager runs. */
  runAs(user: string, ...command: readonly string[]): Promise<MachineResult> {
    const account = [`--reuid=${user}`, `--regid=${user}`, '--init-groups']
    return this.run('setpriv', ...account, 'env', `HOME=/home/${user}`, `USER=${user}`, ...command)
  }

  /** Ends the container, and so its mounts. */
  async close(): Promise<void> {
    process.off('exit', this.#kill)
    const ended = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined
    if (ended !== undefined) this.#kill()
    await ended
    rmSync(this.#dir, { recursive: true, force: true })
  }
}
