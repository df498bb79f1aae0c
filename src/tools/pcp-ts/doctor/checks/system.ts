/** Checks of the operating system and of other installations. */
import { delimiter, join } from 'node:path'
import { type Check, fail, ok, warn } from '../check.ts'

const CLOCK_TICKS = 100
/** The first release of this package is younger. */
const FIRST_YEAR = 2025
const LAST_YEAR = 2100
/** Difference between two clocks that a set clock explains. */
const DRIFT_SECONDS = 60
const PCP_CONF = '/etc/pcp.conf'

export const SYSTEM_CHECKS: readonly Check[] = [
  {
    id: 'clock',
    title: 'Clock',
    run: ({ now, instances, readText }) => {
      const year = new Date(now).getUTCFullYear()
      if (year < FIRST_YEAR || year > LAST_YEAR)
        return fail(
          `the clock shows the year ${year}`,
          'set it, e.g. timedatectl set-ntp true: archives are in the order of time',
        )
      const uptime = Number(readText('/proc/uptime')?.split(' ')[0])
      for (const { pid, uptimeSeconds } of instances) {
        const stat = pid === undefined ? undefined : readText(`/proc/${pid}/stat`)
        const start = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) / CLOCK_TICKS
        const drift = (uptimeSeconds ?? Number.NaN) - (uptime - start)
        if (Math.abs(drift) > DRIFT_SECONDS)
          return warn(
            `it was set by ${Math.round(drift)} s while process ${pid} ran`,
            'archives of that time have a gap or an overlap; keep the clock in step with NTP',
          )
      }
      return ok(new Date(now).toISOString())
    },
  },
  {
    id: 'zone',
    title: 'Time zone',
    run: ({ env, exists, platform }) => {
      const zone = env['TZ']?.replace(/^:/, '')
      if (platform === 'win32' || zone === undefined || !/^[A-Z][\w+-]*\/[\w/+-]+$/.test(zone))
        return ok(zone ?? 'that of the system')
      return exists(join('/usr/share/zoneinfo', zone))
        ? ok(zone)
        : warn(`no data for TZ=${zone} in /usr/share/zoneinfo`, 'install the package tzdata, or correct TZ')
    },
  },
  {
    id: 'proc',
    title: 'Visible processes',
    platforms: ['linux'],
    run: ({ readText, uid }) => {
      const line = (readText('/proc/self/mounts') ?? '')
        .split('\n')
        .find((each) => each.split(' ')[1] === '/proc')
      if (line === undefined)
        return fail('/proc is not mounted', 'mount -t proc proc /proc: nearly all metrics are read there')
      const hidden = /\bhidepid=(1|2|4|noaccess|invisible|ptraceable)\b/.exec(line)
      if (hidden === null || uid === 0) return ok('all')
      return warn(
        `/proc is mounted with ${hidden[0]}: only your own processes have values`,
        'add gid=GROUP to its mount options, with your user in that group',
      )
    },
  },
  {
    id: 'security-module',
    title: 'SELinux and AppArmor',
    platforms: ['linux'],
    run: ({ readText }) => {
      if (readText('/sys/fs/selinux/enforce')?.trim() === '1')
        return ok('SELinux enforces; if files in /proc are refused: ausearch -m avc -c node')
      const profile = readText('/proc/self/attr/current')?.replaceAll('\0', '').trim() ?? ''
      return /\(enforce\)$/.test(profile)
        ? warn(
            `confined by the AppArmor profile ${profile}`,
            'if values are missing, see: journalctl -k --grep apparmor',
          )
        : ok('not confined')
    },
  },
  {
    id: 'container',
    title: 'Container',
    platforms: ['linux'],
    run: ({ exists, env }) => {
      const isContained = exists('/.dockerenv') || exists('/run/.containerenv')
      if (!isContained) return ok('none')
      if (env['HOST_MOUNT']) return ok(`with the host's files in ${env['HOST_MOUNT']}`)
      return warn(
        'in a container: values are those of the container, where the kernel separates them',
        "mount the host's / read-only and set HOST_MOUNT to it, and use its PID namespace",
      )
    },
  },
  {
    id: 'linger',
    title: 'A service of this user after logout',
    platforms: ['linux'],
    run: ({ exists, homeDir, userName }) => {
      const unit = join(homeDir, '.config/systemd/user/pcp-ts.service')
      if (!exists(unit)) return ok('no such service')
      return exists(`/var/lib/systemd/linger/${userName}`)
        ? ok('continues')
        : warn('the service ends when you log out', `loginctl enable-linger ${userName}`)
    },
  },
  {
    id: 'installed-pcp',
    title: 'An installed PCP',
    run: ({ readText, instances }) => {
      const version = /^PCP_VERSION=(.*)$/m.exec(readText(PCP_CONF) ?? '')?.[1]
      if (version === undefined) return ok('none')
      const runs = instances.some(({ kind }) => kind === 'pcp')
      return ok(`${version}; its pmcd ${runs ? 'runs' : 'does not run'}; left alone`)
    },
  },
  {
    id: 'path',
    title: 'Commands of this package on the PATH',
    run: ({ env, exists, linkTarget, binDir, platform }) => {
      const dirs = (env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== '')
      const name = platform === 'win32' ? 'pcp-ts.cmd' : 'pcp-ts'
      const found = dirs.filter((dir) => exists(join(dir, name)))
      if (found.length === 0)
        return warn(
          'pcp-ts is not on the PATH',
          `add its directory, e.g. export PATH="$(npm prefix -g)/bin:$PATH", or use npx pcp-ts`,
        )
      const others = found.filter((dir) => {
        const target = linkTarget(join(dir, name))
        return (
          dir !== binDir &&
          target !== undefined &&
          !join(dir, target).startsWith(binDir) &&
          !target.startsWith(binDir)
        )
      })
      if (others.length > 0 && others.includes(found[0]!))
        return warn(
          `${join(found[0]!, name)} comes first, and is of another installation`,
          `remove it, or change the PATH: this one is in ${binDir}`,
        )
      return ok(join(found[0]!, name))
    },
  },
  {
    id: 'npm-prefix',
    title: 'Directory of global packages',
    run: ({ env, isWritable, uid, exists }) => {
      const prefix = env['npm_config_prefix'] ?? env['NPM_CONFIG_PREFIX']
      if (prefix === undefined || uid === 0) return ok('as npm has it')
      if (!exists(prefix))
        return warn(`npm's prefix ${prefix} does not exist`, 'npm config set prefix ~/.local')
      return isWritable(prefix)
        ? ok(prefix)
        : warn(
            `npm's prefix ${prefix} is not writable`,
            'npm config set prefix ~/.local, then install without sudo',
          )
    },
  },
  {
    id: 'pcp-conf',
    title: 'PCP_CONF',
    run: ({ env, exists, readText, instances }) => {
      const path =
        env['PCP_CONF'] ?? (env['PCP_DIR'] === undefined ? undefined : join(env['PCP_DIR'], 'etc/pcp.conf'))
      if (path === undefined) return ok('not set: commands find the running instance')
      if (!exists(path)) return fail(`${path} does not exist`, 'unset PCP_CONF and PCP_DIR, or correct them')
      const run = /^PCP_RUN_DIR=(.*)$/m.exec(readText(path) ?? '')?.[1]?.trim()
      const used = instances.some(({ runDir }) => runDir === run)
      return used || instances.length === 0
        ? ok(path)
        : warn(
            `${path} leads to ${run ?? 'nowhere'}, where nothing runs, and hides what runs in ${instances[0]!.runDir}`,
            'unset PCP_CONF',
          )
    },
  },
]
