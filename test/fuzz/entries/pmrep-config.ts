/** Configurations of pmrep and its kin: sections, options and metrics. */
import { applyOptionsSection, applySection, sectionMetrics } from '../../../src/tools/lib/report/config.ts'
import { parseIni } from '../../../src/tools/lib/report/ini.ts'
import { defaultSettings } from '../../../src/tools/lib/report/settings.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/tools/lib/report. */
export const pmrepConfig: FuzzEntry = textEntry({
  seeds: () => [
    '[options]\nversion = 1\ninterval = 2s\nheader = yes\ndelimiter = ","\n\n[vm]\nheader = no\nkernel.all.load = Load,1 minute,,,8,2,5\nmem.free = ,,MB\n',
    '[global]\ntimestamp = no\n[x]\nread = disk.dev.read\nread.label = r/s\nread.formula = disk.a + disk.b\nread.instances = sda, "sd.*"\nread.unit = count/s\nread.type = raw\nread.width: 9\nread.precision = 1\nread.limit = -5\n  more\n',
  ],
  run(text) {
    const config = { file: 'pmrep.conf', sections: parseIni(text, 'pmrep.conf') }
    applyOptionsSection(config, defaultSettings())
    for (const name of config.sections.keys()) {
      if (name === 'options') continue
      applySection(config, name, defaultSettings())
      sectionMetrics(config, name)
    }
  },
})
