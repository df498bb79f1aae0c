/** The service under a real systemd: installed, used, restarted, uninstalled, and nothing is left. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MachineResult, PACKAGE, SystemdMachine, whyNoMachine } from './lib/systemd-machine.ts'

const reason = whyNoMachine()
if (reason !== undefined) console.log(`service.test.ts is skipped: ${reason}`)

const SOCKET = 'unix:/run/pcp-ts/pmcd.socket'
const UNIT = '/etc/systemd/system/pcp-ts.service'

describe.skipIf(reason !== undefined)(
  'a service under systemd',
  () => {
    let machine: SystemdMachine
    beforeAll(async () => {
      machine = await SystemdMachine.boot()
    })
    afterAll(() => machine?.close())

    const service = (...args: readonly string[]): Promise<MachineResult> =>
      machine.run('pcp-ts', 'service', ...args)
    const succeed = async (result: Promise<MachineResult>): Promise<string> => {
      const { status, stdout, stderr } = await result
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      return stdout
    }
    const property = async (name: string): Promise<string> =>
      (await succeed(machine.run('systemctl', 'show', 'pcp-ts', `--property=${name}`, '--value'))).trim()

    test('install makes the account, starts everything, and waits until it listens', async () => {
      expect((await service('status')).status).toBe(4)
      const text = await succeed(service('install', '--record', '--web', 'localhost'))
      expect(text).toMatch(/^account pcp-ts: made, user id \d+$/m)
      expect(text).toContain(`${UNIT}: written\n`)
      expect(text).toMatch(/^started: collecting on port 44321, recording .*, charts on port 44323$/m)
      expect(await succeed(service('status'))).toMatch(/^state +active \(running\), enabled$/m)
      expect(await succeed(service('logs', '-n', '50'))).toContain('listening')
      const values = await succeed(machine.run('pcp-ts', 'pminfo', '-h', SOCKET, '-f', 'kernel.all.load'))
      expect(values.match(/^ {4}inst \[.*value [\d.]+$/gm)).toHaveLength(3)
    })

    test('it runs without rights, and cannot write outside of its directories', async () => {
      const pid = await property('MainPID')
      const status = await succeed(machine.run('cat', `/proc/${pid}/status`))
      expect(status).toMatch(/^CapEff:\t0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
      expect(status).not.toMatch(/^Uid:\t0\t/m)
      expect(await succeed(machine.run('stat', '-c', '%U', '/etc/pcp-ts', '/var/lib/pcp-ts'))).toBe(
        'root\npcp-ts\n',
      )
    })

    test('installing again changes nothing; another option restarts it', async () => {
      const pid = await property('MainPID')
      const again = ['install', '--record', '--web', 'localhost']
      expect(await succeed(service(...again))).toBe(`${UNIT}: unchanged\nalready running\n`)
      expect(await property('MainPID')).toBe(pid)
      expect(await succeed(service('install', '--port', '44400'))).toMatch(/replaced\nrestarted: .* 44400$/m)
      expect(await property('MainPID')).not.toBe(pid)
    })

    test('after its process was killed systemd starts it again', async () => {
      const pid = await property('MainPID')
      await succeed(machine.run('systemctl', 'kill', '--signal=KILL', '--kill-whom=main', 'pcp-ts'))
      while ((await property('NRestarts')) === '0' || (await property('ActiveState')) !== 'active');
      expect(await property('MainPID')).not.toBe(pid)
      await succeed(machine.run('pcp-ts', 'pminfo', '-h', SOCKET, '-f', 'pmcd.version'))
    })

    test('a unit that was edited stays without --force', async () => {
      await succeed(machine.run('sed', '-i', '$a# mine', UNIT))
      for (const verb of ['install', 'uninstall']) {
        const { status, stderr } = await service(verb)
        expect(status).not.toBe(0)
        expect(stderr).toContain(`${UNIT} was edited by hand`)
      }
      expect((await service('status')).stdout).toContain('(edited by hand)')
      expect(await succeed(service('install', '--force'))).toContain('restarted')
    })

    test('uninstall keeps state, with --purge nothing is left', async () => {
      expect(await succeed(service('uninstall'))).toMatch(/removed\nkept: \/etc\/pcp-ts, \/var\/lib\/pcp-ts/)
      expect(await succeed(service('uninstall', '--purge'))).toContain('account pcp-ts: removed')
      const find = [
        'find',
        '/etc',
        '/run',
        '/var',
        '-xdev',
        '-name',
        '*pcp-ts*',
        '-not',
        '-path',
        '/run/host/*',
      ]
      const found = (await machine.run(...find)).stdout.split('\n')
      expect(
        found.filter((path) => /^\/(etc|run|var\/(lib|log))\/(systemd\/system\/)?pcp-ts/.test(path)),
      ).toEqual([])
      expect((await machine.run('getent', 'passwd', 'pcp-ts')).status).toBe(2)
      expect((await service('status')).status).toBe(4)
    })

    test('a service of one user, without root', async () => {
      await succeed(machine.run('useradd', '--create-home', 'alice'))
      await succeed(machine.run('loginctl', 'enable-linger', 'alice'))
      const mine = (...args: readonly string[]): Promise<MachineResult> =>
        machine.runAs('alice', 'pcp-ts', 'service', ...args)
      const refused = await mine('install', '--system')
      expect(refused.stderr).toContain(
        `sudo ${process.execPath} ${PACKAGE}/bin/pcp-ts service install --system`,
      )
      expect(await succeed(mine('install', '--port', '44500'))).toMatch(/written\nstarted: .* 44500$/m)
      const values = await succeed(
        machine.runAs('alice', 'pcp-ts', 'pminfo', '-h', 'localhost:44500', '-f', 'pmcd.version'),
      )
      expect(values).toContain('value "')
      await succeed(mine('uninstall', '--purge'))
      const left = await machine.run('find', '/home/alice', '-path', '*pcp*', '-not', '-path', '*/.cache/*')
      expect(left.stdout).toBe('')
    })
  },
  180_000,
)
